// SPDX-License-Identifier: BSD-3-Clause
// How the networks learned: one point per validation, against time or against windows seen.
import * as Plot from "@observablehq/plot";
import { h } from "../common/dom";
import { choice, legend } from "./controls";
import { count, DASH, decimalsFor, fixed, short } from "./format";
import { colour, modelLine, plot, rem, responsive, tip, type XY } from "./plots";
import { byValue, type Curve, type CurvePoint, type Maybe, type Results } from "./results";
import { columns, lineHeading, note, numberCell, scrollBox, section } from "./section";
import { Lines } from "./store";

type Against = "minutes" | "windows";
type Quantity = "nll" | "ade";
interface View {
  against: Against;
  settled: boolean; // frame what comes after the first drop, instead of everything
}

const SYMBOLS_PER_LINE = 8;
const FIRST_DROP = 0.2; // the share of a run that the settled frame need not show

const rate = (value: Maybe): string => (value === null ? DASH : String(+value.toPrecision(3)));
const minutes = (point: CurvePoint): number => point.seconds / 60;

/** The validation whose weights were kept. */
function bestOf({ points }: Curve): CurvePoint | null {
  return (
    points.filter((point) => point.best).at(-1) ??
    [...points].sort((a, b) => byValue(true, a.nll, b.nll))[0] ??
    null
  );
}

function positions(
  curve: Curve,
  points: CurvePoint[],
  quantity: Quantity | "trainNll",
  against: Against,
): XY[] {
  return points.flatMap((point) => {
    const y = point[quantity];
    if (y === null) return [];
    return [
      {
        x: against === "minutes" ? minutes(point) : point.windows,
        y,
        title:
          `${curve.name}\nvalidation NLL ${short(point.nll)}, ADE ${short(point.ade)} m\n` +
          `train NLL ${short(point.trainNll)}\n` +
          `after ${short(minutes(point))} min, ${count(point.windows)} windows\n` +
          `${short(point.epochs)} epochs, rate ${rate(point.lr)}, history ${count(point.history)}`,
      },
    ];
  });
}

/** What the frame must show of a line. */
const framed = (points: XY[], settled: boolean): XY[] =>
  settled ? points.slice(Math.floor(FIRST_DROP * points.length)) : points;

/** A range around `points` with some air. */
function range(points: XY[]): [number, number] {
  const ys = points.map((point) => point.y);
  const low = Math.min(...ys),
    high = Math.max(...ys);
  const air = 0.05 * (high - low) || 0.05 * Math.abs(high) || 1;
  return [low - air, high + air];
}

interface Run {
  curve: Curve;
  validation: XY[];
  train: XY[]; // none in the chart of ADE
  best: XY[]; // one or none
}

function runOf(curve: Curve, quantity: Quantity, against: Against): Run {
  const best = bestOf(curve);
  return {
    curve,
    validation: positions(curve, curve.points, quantity, against),
    train: quantity === "nll" ? positions(curve, curve.points, "trainNll", against) : [],
    best: best ? positions(curve, [best], quantity, against) : [],
  };
}

function runMarks({ curve, validation, train, best }: Run): Plot.Markish[] {
  const style = { x: "x", y: "y", clip: true, stroke: colour(curve.index) } as const;
  return [
    Plot.line(train, {
      ...style,
      strokeWidth: rem(0.07),
      strokeDasharray: "3 3",
      strokeOpacity: 0.8,
    }),
    ...modelLine(
      curve.index,
      validation,
      Math.max(1, Math.round(validation.length / SYMBOLS_PER_LINE)),
      true,
    ),
    Plot.dot(best, { ...style, r: rem(0.42), strokeWidth: rem(0.13) }),
  ];
}

function panel(
  lines: Lines<Curve>,
  quantity: Quantity,
  title: string,
  view: View,
): { node: HTMLElement; redraw: () => void } {
  return responsive((width) => {
    const runs = lines.shown().map((curve) => runOf(curve, quantity, view.against));
    const points = runs.flatMap((run) => run.validation);
    if (points.length === 0) return null;
    const inFrame = runs.flatMap(({ validation, train, best }) => [
      ...framed(validation, view.settled),
      ...framed(train, view.settled),
      ...best,
    ]);
    const x = view.against === "minutes" ? "training time (minutes)" : "windows seen";
    return plot(`${title} against ${x}, one line per model`, {
      width,
      height: Math.min(rem(22), Math.max(rem(15), width * 0.6)),
      x: {
        label: x,
        domain: [0, 1.02 * Math.max(...points.map((point) => point.x)) || 1],
        ticks: 5,
        tickFormat: view.against === "minutes" ? "~g" : "~s",
      },
      y: { label: title, domain: range(inFrame), grid: true, ticks: 6 },
      marks: [
        Plot.ruleX([0], { stroke: "var(--line)" }),
        // Worst first, so that the best lines lie on top.
        ...runs.reverse().flatMap(runMarks),
        tip(points),
      ],
    });
  });
}

function runRow(curve: Curve, decimals: Record<Quantity, number>): HTMLElement {
  const last = curve.points.at(-1) ?? null,
    best = bestOf(curve);
  const cell = (metric: string, value: Maybe, text: string) =>
    numberCell(value, text, { metric, model: curve.name, group: "training" });
  const time = last && minutes(last);
  const speed = last && last.seconds > 0 ? last.windows / last.seconds : null;
  const nll = best?.nll ?? null,
    ade = best?.ade ?? null;
  return h(
    "tr",
    {},
    lineHeading(curve),
    cell("parameters", curve.parameters, count(curve.parameters)),
    cell("windows", last?.windows ?? null, count(last?.windows ?? null)),
    cell("epochs", last?.epochs ?? null, fixed(last?.epochs ?? null, 2)),
    cell("windows_per_second", speed, count(speed && Math.round(speed))),
    cell("minutes", time, fixed(time, 1)),
    cell("validation_nll", nll, fixed(nll, decimals.nll)),
    cell("validation_ade_m", ade, fixed(ade, decimals.ade)),
    h("td", { class: "text" }, curve.note || "has not ended"),
  );
}

function runTable(curves: Curve[]): HTMLElement {
  const best = curves.map(bestOf);
  const decimals = {
    nll: Math.min(3, decimalsFor(best.map((point) => point?.nll ?? null))),
    ade: Math.min(3, decimalsFor(best.map((point) => point?.ade ?? null))),
  };
  return scrollBox(
    "trainings",
    h(
      "table",
      { id: "training-table" },
      columns(
        "Model",
        "#Parameters",
        "#Windows seen",
        "#Epochs",
        "#Windows/s",
        "#Minutes",
        "#Best validation NLL",
        "#ADE there (m)",
        "Ended because",
      ),
      h("tbody", {}, ...curves.map((curve) => runRow(curve, decimals))),
    ),
  );
}

export function trainingSection(results: Results): HTMLElement | null {
  if (results.curves.length === 0) return null;
  const nll = (curve: Curve) => bestOf(curve)?.nll ?? null;
  const lines = new Lines([...results.curves].sort((a, b) => byValue(true, nll(a), nll(b))));
  const view: View = { against: "minutes", settled: true };
  const panels = [
    panel(lines, "nll", "validation NLL (per step)", view),
    panel(lines, "ade", "validation ADE (m)", view),
  ];
  const redraw = () => panels.forEach((each) => each.redraw());
  lines.watch(redraw);

  return section(
    "training",
    "Training",
    [
      choice(
        "training-against",
        "against",
        [
          { value: "minutes", label: "minutes" },
          { value: "windows", label: "windows seen" },
        ],
        view.against,
        (value) => {
          view.against = value === "windows" ? "windows" : "minutes";
          redraw();
        },
      ),
      choice(
        "training-frame",
        "frame",
        [
          { value: "settled", label: "after the first drop" },
          { value: "all", label: "all points" },
        ],
        "settled",
        (value) => {
          view.settled = value === "settled";
          redraw();
        },
      ),
    ],
    h("div", { class: "halves" }, ...panels.map(({ node }) => h("figure", {}, node))),
    legend(lines),
    note(
      "Lines: validation flights. Thin dashed lines: NLL of the training windows. Rings: the best " +
        "validation NLL, whose weights were kept. NLL is in the network's own units of displacement, " +
        "so it compares trainings with each other, not with the table of metrics.",
    ),
    runTable(lines.ranking),
  );
}
