#!/usr/bin/env python3
"""Tables of docs/results/plus.md from the JSON files of scripts/plus_results.sh.

    scripts/plus_tables.py RESULTS               # writes docs/results/plus_tables.md and plus.json; what RESULTS
                                                 # does not have stays, where what both have is the same
    scripts/plus_tables.py --readme [--check]    # writes README.md's tables from plus.json, or compares
"""
import contextlib
import io
import json
import random
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SUMMARY = ROOT / "docs/results/plus.json"

REPLICATES = 2000


class Results:
    """What one evaluation found."""

    def __init__(self, file: Path) -> None:
        self.json = json.loads(file.read_text())
        self.models = {m["name"]: m for m in self.json["models"]}

    def group(self, model: str, kind: str = "all", name: str = "") -> dict | None:
        for g in self.models[model]["groups"]:
            if g["kind"] == kind and (not name or g["name"] == name):
                return g
        return None

    def metric(self, model: str, key: str, kind: str = "all", name: str = "") -> float | None:
        g = self.group(model, kind, name)
        return g["metrics"][key]["value"] if g else None

    def flights(self, model: str, source: str = "") -> dict[str, tuple[float, int]]:
        """Sum of ADE and number of windows of every flight."""
        return {f["flight"]: tuple(f["sums"]["ade"]) for f in self.models[model]["per_flight"]
                if source in ("", f["source"])}


def interval(draw, flights: list[str]) -> tuple[float, float, float]:
    """A statistic of flights, with its 95 % interval over them."""
    rng = random.Random(1)
    draws = sorted(draw(rng.choices(flights, k=len(flights))) for _ in range(REPLICATES))
    return draw(flights), draws[int(0.025 * REPLICATES)], draws[int(0.975 * REPLICATES) - 1]


def mean(results: Results, model: str, source: str = "") -> tuple[float, float, float]:
    sums = results.flights(model, source)
    return interval(lambda chosen: sum(sums[f][0] for f in chosen) / sum(sums[f][1] for f in chosen),
                    list(sums))


def difference(results: Results, a: str, b: str, source: str = "", of: Results | None = None) -> tuple[float, float, float]:
    """ADE of a less that of b, in `of` if given: the same windows, by another length of history."""
    of_a, of_b = results.flights(a, source), (of or results).flights(b, source)
    return interval(lambda chosen: sum(of_a[f][0] - of_b[f][0] for f in chosen)
                    / sum(of_a[f][1] for f in chosen), list(of_a))


def row(*cells: object) -> None:
    print("| " + " | ".join(str(c) for c in cells) + " |")


def head(*cells: str) -> None:
    print()
    row(*cells)
    row(*["---"] * len(cells))


def number(x: float | None) -> str:
    return "" if x is None else f"{x:.3f}" if abs(x) < 10 else f"{x:.1f}"


def estimate(e: tuple[float, float, float]) -> str:
    return f"{number(e[0])} [{number(e[1])}, {number(e[2])}]"


def main_tables(load) -> None:
    for title, file in (("by 10 s", "same-10"), ("by 2 s", "same-2"), ("by 2 s, all windows", "all-2")):
        r = load(file)
        if not r:
            continue
        print(f"\n### {title}: {r.json['protocol']['flights']} flights, {r.json['protocol']['windows']} windows")
        head("", "real: ADE, m", "FDE", "all: ADE, m", "Random", "Staircase", "CRPS, m", "minADE modes", "brier-minFDE",
             "mode use, nats")
        for model in r.models:
            row(model, estimate(mean(r, model, "real")), number(r.metric(model, "fde", "source", "real")),
                estimate(mean(r, model)), number(r.metric(model, "ade", "category", "random")),
                number(r.metric(model, "ade", "category", "staircase")),
                number(r.metric(model, "crps_position")), number(r.metric(model, "min_ade_modes")),
                number(r.metric(model, "brier_min_fde")), number(r.metric(model, "mode_use_entropy")))


def difference_tables(load) -> None:
    """The paper's networks and classical forecasters take two seconds and no more; replay takes ten."""
    ten, two = load("same-10"), load("same-2")
    if not ten or not two:
        return
    for base in ("plus", "plus-small"):
        print(f"\n### ADE less that of {base}, m, paired on the same windows (what takes two seconds only, by these)")
        head("", *[f"{base} by {s} s, {flights}" for s in (10, 2) for flights in ("real", "all")])
        for m in [m for m in two.models | ten.models if m != base]:
            row(m, *[estimate(difference(own if m in own.models else two, m, base, source, own))
                     if m in own.models or m in two.models else ""
                     for own in (ten, two) for source in ("real", "")])


def category_table(load) -> None:
    ten, two = load("same-10"), load("same-2")
    if not ten or not two:
        return
    print("\n### ADE by category, m, by 10 s / 2 s")
    groups = [(g["kind"], g["name"]) for g in ten.models["plus"]["groups"] if g["kind"] in ("category", "source")]
    head("", *[name for _, name in groups])
    for m in two.models:
        row(m, *[" / ".join(number(r.metric(m, "ade", *group)) if m in r.models else "" for r in (ten, two))
                 for group in groups])


def history_table(load) -> None:
    lengths = ["0.3", "0.5", "1", "1.5", "2", "3", "4", "5", "7", "10"]
    found = [(s, load(f"history-{s}")) for s in lengths]
    found = [(s, r) for s, r in found if r]
    if not found:
        return
    print("\n### ADE of real test flights by seconds of history, m (the same windows)")
    head("", *[f"{s} s" for s, _ in found])
    for model in ("plus", "plus-small"):
        row(model, *[number(r.metric(model, "ade", "source", "real")) for _, r in found])


def calibration_tables(load, directory: Path) -> None:
    print("\n### Before and after calibration, all test flights")
    for s in ("10", "2"):
        raw, after = load(f"raw-{s}"), load(f"same-{s}")
        if not raw or not after:
            continue
        head(f"by {s} s", "NLL, before", "after", "CRPS, before", "after", "ECE, before", "after",
             "90 % region holds, before", "after", "ball", "tube", "radius 90, m, before", "after")
        for model in raw.models:
            cells = []
            for key in ("nll_position", "crps_position", "ece_position", "coverage_90"):
                cells += [number(raw.metric(model, key)), number(after.metric(model, key))]
            cells += [number(after.metric(model, "conformal_coverage")), number(after.metric(model, "tube_coverage")),
                      number(raw.metric(model, "sharpness_90")), number(after.metric(model, "sharpness_90"))]
            row(model, *cells)
    for file in sorted(directory.glob("redraw-*.json")):
        model = file.stem.removeprefix("redraw-")
        print(f"\n### {model}, 200 redraws of calibration and test among the flights not trained on: mean (standard deviation)")
        head("by", "", "1 s", "2 s", "3 s", "4 s", "5 s", "mean")
        for history, key, cells in redraw_rows(file):
            row(history, key, *cells)


def redraw_rows(file: Path) -> list[tuple[str, str, list[str]]]:
    """By each history, of every quantity, mean and standard deviation over the redraws: at 1 ... 5 s and their mean,
    or that alone."""
    rows: dict[tuple[str, str], list[str]] = {}
    for series in json.loads(file.read_text())["redraw"]["series"]:
        cells = rows.setdefault((f"{series['history_s']:g} s", series["key"]), [])
        cells.append(f"{series['mean']:.3f} ({series['sd']:.3f})" if len(series["values"]) > 1 else number(series["mean"]))
    return [(history, key, [""] * (6 - len(cells)) + cells) for (history, key), cells in rows.items()]


SHIFTS = ["noise-5mm", "noise-2cm", "noise-2cm-unstated", "noise-5cm", "drop-10", "drop-30", "outliers-5", "yaw-73",
          "scale-3", "scale-10", "time-2", "fliers", "cf"]
UNSEEN = ["unseen-star", "unseen-fast"]


def shift_tables(load) -> None:
    for s in ("10", "2"):
        shift_table(load, f"Shifted, by {s} s: ADE, m (real flights where there are some)", s, ["same", *SHIFTS], ["plus", "plus-small"])
        shift_table(load, f"Never trained on, by {s} s: ADE, m, of a plus-small trained without these flights", s, UNSEEN, ["plus-small"])


def source_of(r: Results) -> str:
    """Real flights where there are some, else all."""
    return "real" if any(f["source"] == "real" for f in next(iter(r.models.values()))["per_flight"]) else ""


def shift_table(load, title: str, seconds: str, names: list[str], networks: list[str]) -> None:
    """What the networks have on other flights; the first of them, paired, less the best classical forecaster."""
    found = [(name, r) for name in names if (r := load(f"{name}-{seconds}"))]
    if not found:
        return
    print(f"\n### {title}")
    classical = ["hold", "cv", "ctrv", "imm", "knn", "replay"]
    head("", *networks, *classical, f"{networks[0]} less the best classical (paired)")
    for name, r in found:
        source = source_of(r)
        cells = [number(mean(r, m, source)[0]) if m in r.models else "" for m in networks + classical]
        best = min((m for m in classical if m in r.models), key=lambda m: mean(r, m, source)[0])
        paired = difference(r, networks[0], best, source)
        row(name, *cells, f"{estimate(paired)} to {best}{' **loses**' if paired[1] > 0 else ''}")


def configuration_tables(load) -> None:
    for s in ("10", "2"):
        r = load(f"configuration-{s}")
        if not r:
            continue
        print(f"\n### Split by configuration, by {s} s: flights of configurations never trained on")
        head("", "real: ADE, m", "all: ADE, m", "90 % region holds")
        for model in r.models:
            row(model, estimate(mean(r, model, "real")), estimate(mean(r, model)), number(r.metric(model, "coverage_90")))


README_COLUMNS = {"by 10 s of history": "same-10", "by 2 s": "same-2", "10 s, with 2 cm of noise": "noise-2cm-10",
                  "2 s, with 2 cm of noise": "noise-2cm-2"}
README_ROWS = {"plus": "`plus`", "plus-small": "`plus-small`", "replay": "`replay`: the track's own past, repeated",
               "knn": "`knn`", "ridge": "`ridge`", "imm": "`imm`"}
README_METRICS = {"FDE, m": "fde", "CRPS, m": "crps_position", "90 % region holds": "coverage_90"}
README_FORECASTERS = {
    "plus": "`plus`", "plus-small": "`plus-small`", "paper": "the paper's Transformer, 30 minutes", "gru": "its GRU",
    "lstm": "its LSTM", "bigru": "its BiGRU", "mlp": "its MLP", "knn": "`knn`: four most similar train windows",
    "ridge": "`ridge`: linear regression, heading frame", "imm": "`imm`: CV, CA and turn filters, mixed",
    "ctrv": "`ctrv`: constant turn rate", "hold": "`hold`: stays", "cv": "`cv`: constant velocity"}
END = "<!-- end -->\n"


def summary(load) -> dict:
    """What the README shows of the real flights: ADE with its interval, other metrics."""
    cells = {}
    for file in README_COLUMNS.values():
        r = load(file)
        cells[file] = {m: mean(r, m, "real") for m in README_ROWS if r and m in r.models}
    r = load("all-2")
    forecasters = {m: {"ade": mean(r, m, "real"),
                       **{key: r.metric(m, key, "source", "real") for key in README_METRICS.values()}}
                   for m in README_FORECASTERS if r and m in r.models}
    return {"ade_real_m": cells, "all_2s_real": forecasters}


def sections(text: str) -> dict[str, str]:
    """The sections of a page by their titles; what stands before the first has none."""
    parts = text.split("\n### ")
    return {"": parts[0]} | {title: body for title, _, body in (part.partition("\n") for part in parts[1:])}


def tables_of(body: str) -> dict[str, list[str]]:
    """The rows of every table of a section by its header."""
    found: dict[str, list[str]] = {}
    for block in body.strip().split("\n\n"):
        header, _, rest = block.partition("\n")
        found[header] = rest.split("\n")
    return found


def merged(old: str, new: str) -> str:
    """`new`, and of `old` the sections it does not have, and the rows of a table that has one in common with it."""
    before, after = sections(old), sections(new)
    for title in before.keys() & after.keys() - {""}:
        tables, known = tables_of(after[title]), tables_of(before[title])
        for header, rows in tables.items():
            earlier = known.get(header, [])
            if not set(rows[1:]) & set(earlier[1:]):  # below the line under the header
                continue
            names = {r.split("|")[1] for r in rows}
            rows += [r for r in earlier if r.split("|")[1] not in names]
        after[title] = "\n" + "\n\n".join("\n".join([header, *rows]) for header, rows in tables.items()) + "\n"
    order = list(before) + [title for title in after if title not in before]
    return "\n### ".join(f"{title}\n{body}" if title else body
                         for title, body in ((t, after.get(t, before.get(t, ""))) for t in order))


def updated(old: dict, new: dict) -> dict:
    """`new`, and of `old` what it does not have."""
    return old | {key: updated(old.get(key, {}), value) if isinstance(value, dict) else value for key, value in new.items()}


def readme_forecasters() -> str:
    cells = json.loads(SUMMARY.read_text())["all_2s_real"]
    lines = ["| | ADE, m | " + " | ".join(README_METRICS) + " |", "|---" * (2 + len(README_METRICS)) + "|"]
    for model, title in README_FORECASTERS.items():
        if model in cells:
            lines.append(f"| {title} | {estimate(cells[model]['ade'])} | "
                         + " | ".join(number(cells[model][key]) for key in README_METRICS.values()) + " |")
    return "\n".join(lines) + "\n"


def readme_networks() -> str:
    cells = json.loads(SUMMARY.read_text())["ade_real_m"]
    lines = ["| | " + " | ".join(README_COLUMNS) + " |", "|---" * (1 + len(README_COLUMNS)) + "|"]
    for model, title in README_ROWS.items():
        shown = [cells[file].get(model) for file in README_COLUMNS.values()]
        # Without ten seconds there is no past to repeat.
        shown = [None if model == "replay" and file.endswith("-2") else e for e, file in
                 zip(shown, README_COLUMNS.values())]
        lines.append(f"| {title} | " + " | ".join(estimate(e) if e else "" for e in shown) + " |")
    return "\n".join(lines) + "\n"


def write_readme(check: bool) -> int:
    text = fresh = (ROOT / "README.md").read_text()
    for name, table in (("networks", readme_networks()), ("forecasters", readme_forecasters())):
        begin = f"<!-- scripts/plus_tables.py --readme: {name} -->\n"
        before, rest = fresh.split(begin)
        fresh = before + begin + table + END + rest.split(END, 1)[1]
    if check:
        if fresh == text:
            return 0
        print("README.md: its tables are not what docs/results/plus.json says; run scripts/plus_tables.py --readme",
              file=sys.stderr)
        return 1
    (ROOT / "README.md").write_text(fresh)
    return 0


def main() -> int:
    if sys.argv[1:] in (["--readme"], ["--readme", "--check"]):
        return write_readme(len(sys.argv) == 3)
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    directory = Path(sys.argv[1])

    def load(name: str) -> Results | None:
        file = directory / f"{name}.json"
        return Results(file) if file.exists() else None

    tables = io.StringIO()
    with contextlib.redirect_stdout(tables):
        print("# AeroCast plus: tables\n\nMade by `scripts/plus_tables.py` from the results of `scripts/plus_results.sh`;"
              " read [plus.md](plus.md) with it.")
        main_tables(load)
        difference_tables(load)
        category_table(load)
        history_table(load)
        calibration_tables(load, directory)
        shift_tables(load)
        configuration_tables(load)
    page = ROOT / "docs/results/plus_tables.md"
    page.write_text(merged(page.read_text(), tables.getvalue()))
    SUMMARY.write_text(json.dumps(updated(json.loads(SUMMARY.read_text()), summary(load)), indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
