#!/usr/bin/env python3
"""Writes the card of a bundled network from its own file and from measured results.

    scripts/model_card.py plus RESULTS        # of scripts/plus_results.sh; writes models/aerocast-plus.md

No number in a card is typed by hand.
"""
import hashlib
import json
import subprocess
import sys
from pathlib import Path

from plus_tables import SHIFTS, Results, difference, estimate, mean, number, redraw_rows, source_of

ROOT = Path(__file__).resolve().parent.parent
CLASSICAL = ["hold", "cv", "ctrv", "imm", "knn", "replay"]

SHIFT_TEXT = {
    "noise-5mm": "5 mm of noise", "noise-2cm": "2 cm of noise", "noise-2cm-unstated": "2 cm of noise, not stated",
    "noise-5cm": "5 cm of noise", "drop-10": "10 % of 10 Hz dropped", "drop-30": "30 % of 10 Hz dropped",
    "outliers-5": "5 % outliers of 0.5 to 3 m", "yaw-73": "turned by 73 degrees", "scale-3": "three times as large",
    "scale-10": "ten times as large", "time-2": "twice as fast", "fliers": "birds, racing, fixed wing (generated, 5 to 20 m/s)",
    "cf": "another Crazyflie, random waypoints, UWB (cf_battery)"}


def best_classical(r: Results, source: str) -> str:
    return min((m for m in CLASSICAL if m in r.models), key=lambda m: mean(r, m, source)[0])


def main() -> int:
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    name, results = sys.argv[1], Path(sys.argv[2])
    file = ROOT / "models" / f"aerocast-{name}.safetensors"
    described = json.loads(subprocess.run([ROOT / "build/release/aerocast", "describe", file, "--json", "-"], check=True,
                                          capture_output=True, text=True).stdout)
    config, provenance, calibration = described["config"], described["provenance"], described["calibration"]

    def load(key: str) -> Results | None:
        path = results / f"{key}.json"
        return Results(path) if path.exists() else None

    out = [f"# AeroCast {name}", ""]
    say = out.append
    say(f"`{file.name}`, {file.stat().st_size:,} bytes, SHA-256 `{hashlib.sha256(file.read_bytes()).hexdigest()}`. "
        "Made by `scripts/model_card.py`; every number is measured.")
    say("")
    say("Where a flying obstacle will be over the next five seconds, from 0.2 to 10 s of its tracked positions, with holes and a stated "
        "noise: a point path, six trajectory modes with spreads along, across and up, conformal balls and a tube, joint samples. "
        "Nothing depends on place or direction; speed is known from 0.2 to 1.3 m/s and does not matter elsewhere "
        "([method](../docs/method.md) part 3).")
    training = provenance["training"]
    stops = "\nstop_and_go = " in training and "\nstop_and_go = 0\n" not in training
    say("\n## Network and training\n")
    say(f"Transformer, {config['width']} wide, {config['layers']} layers, {config['heads']} heads, tokens of {config['patch']} steps; "
        f"{described['parameters']:,} parameters, {described['bits']} bits each. Seed {provenance['seed']}, "
        f"{provenance['windows_seen']:,} samples ({provenance['epochs_seen']:.0f} epochs of the corpus' windows), one CPU core"
        + (", the last of them in a run that began with the weights of the one before. " if training.startswith("# began with") else ". ") +
        "Settings: `configs/" + name + ".toml`; what was tried: [docs/results/plus.md](../docs/results/plus.md).")
    say("\n## Data\n")
    say(f"Corpus `{provenance['corpus_name']}` ({provenance['corpus_hash'][:12]}), split by flight ({provenance['split_hash'][:12]}), "
        f"{len(provenance['train_flights'])} recordings of its train side: NanoBench (a Crazyflie 2.1 in a Vicon room; BSD-3-Clause) and generated "
        "flights; beside it flights of the train side flown again at other speeds by a simulated Crazyflie, and flights that the sampler "
        "generates, among them birds, racing drones and fixed wings"
        + (", and quadrotors that stop at waypoints" if stops else "") + ". "
        f"Calibrated on {calibration['flight_count']} other flights ({calibration['windows']:,} windows), "
        "validated and tested on others again. `cf_battery` (CC BY-SA 4.0) was only evaluated on"
        + (", but what an earlier network did there prompted the generated flights that stop at waypoints." if stops else "."))
    say("\n## Measured, on test flights\n")
    say("Real: NanoBench, deduplicated, airborne. Brackets: 95 % intervals over flights. Windows with ten seconds behind them, the same for both lengths.\n")
    say("| by | real: ADE, m | FDE, m | all: ADE, m | CRPS, m | ECE | 90 % region holds | ball | tube | radius 90, m |")
    say("|---|---|---|---|---|---|---|---|---|---|")
    for s in ("10", "2"):
        r = load(f"same-{s}")
        if r:
            say(f"| {s} s | {estimate(mean(r, name, 'real'))} | {number(r.metric(name, 'fde', 'source', 'real'))} | {estimate(mean(r, name))} | "
                + " | ".join(number(r.metric(name, key)) for key in
                             ("crps_position", "ece_position", "coverage_90", "conformal_coverage", "tube_coverage", "sharpness_90")) + " |")
    say("\n| ADE, m | by 10 s | 2 s | best classical by 10 s | 2 s |")
    say("|---|---|---|---|---|")
    limits = []
    for key in ["same", *[k for k in SHIFTS if k in SHIFT_TEXT]]:
        cells, bests = [], []
        for s in ("10", "2"):
            r = load(f"{key}-{s}")
            if not r or name not in r.models:
                cells.append(""), bests.append("")
                continue
            source = source_of(r)
            best = best_classical(r, source)
            cells.append(number(mean(r, name, source)[0]))
            bests.append(f"{number(mean(r, best, source)[0])} ({best})")
            paired = difference(r, name, best, source)
            if paired[1] > 0:
                limits.append(f"{SHIFT_TEXT.get(key, 'as flown')}, by {s} s: {best} is better by {estimate(paired)} m.")
        if any(cells):
            say(f"| {SHIFT_TEXT.get(key, 'as flown')} | {cells[0]} | {cells[1]} | {bests[0]} | {bests[1]} |")
    say("\n## Calibration\n")
    levels = ", ".join(f"{100 * level:g} %" for level in calibration["level"])
    say(f"Conformal levels {levels}, {calibration['flight_count']} flights behind them ([docs/calibration.md](../docs/calibration.md)). "
        "200 times the flights not trained on were divided anew into calibration and test; mean share inside the 90 % regions (standard deviation):\n")
    say("| by | | 1 s | 2 s | 3 s | 4 s | 5 s | mean |")
    say("|---|---|---|---|---|---|---|---|")
    path = results / f"redraw-{name}.json"
    for history, key, cells in redraw_rows(path) if path.exists() else []:
        say(f"| {history} | {key} | " + " | ".join(cells) + " |")
    say("\n## Limits\n")
    for limit in limits or ["On none of the shifted sets above does a classical forecaster win with its interval clear of zero."]:
        say(f"- {limit}")
    say("- Real flights are one small quadrotor in one room; birds, racing drones and fixed wings are generated, no real one was seen.")
    say("- By two seconds it recognises flights like those it was trained on; configurations it has never seen cost it several times the error.")
    say("- Regions hold on average over flights like the calibration flights: on real periodic flights they are too wide, on Random too narrow.")
    say("- Not a certified detect-and-avoid system.")
    (ROOT / "models" / f"aerocast-{name}.md").write_text("\n".join(out) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
