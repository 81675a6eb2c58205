// SPDX-License-Identifier: BSD-3-Clause
// Single windows: what was seen, what was flown, what each model said. First one model in three
// dimensions, then the point paths of all in plan and side view, where one metre is the same length
// on both axes.
import * as Plot from "@observablehq/plot";
import { h, nameOf } from "../common/dom";
import { choice, legend, select } from "./controls";
import { exampleScene } from "./example_scene";
import { short } from "./format";
import { modelLine, plot, rem, responsive, tip, type XY } from "./plots";
import type { Example, Point } from "./results";
import { section } from "./section";
import type { Store } from "./store";

type Flat = { x: number; y: number }[];
type View = (path: Point[]) => Flat;

const plan: View = (path) => path.map(([x, y]) => ({ x, y }));

// Height over the ground distance travelled, so that a turn does not fold the path onto itself.
const side: View = (path) => {
  let travelled = 0;
  return path.map(([x, y, z], i) => {
    const before = path[i - 1];
    if (before) travelled += Math.hypot(x - before[0], y - before[1]);
    return { x: travelled, y: z };
  });
};
const mirrored = (flat: Flat): Flat => flat.map(({ x, y }) => ({ x: -x, y }));

/** Domains around `points`, enlarged by `room`, for a frame of the given pixels: one scale for both axes. */
function equalDomains(
  points: Flat,
  room: number,
  width: number,
  height: number,
): { x: [number, number]; y: [number, number] } {
  const xs = points.map((p) => p.x),
    ys = points.map((p) => p.y);
  const [x0, x1, y0, y1] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const perPixel = room * Math.max((x1 - x0) / width, (y1 - y0) / height, 1e-3 / width);
  const around = (low: number, high: number, pixels: number): [number, number] => [
    (low + high - perPixel * pixels) / 2,
    (low + high + perPixel * pixels) / 2,
  ];
  return { x: around(x0, x1, width), y: around(y0, y1, height) };
}

interface Frame {
  label: string;
  xLabel: string;
  yLabel: string;
  view: View;
  isSide: boolean;
  ratio: number;
}
const FRAMES: Frame[] = [
  { label: "Plan view", xLabel: "x (m)", yLabel: "y (m)", view: plan, isSide: false, ratio: 0.75 },
  {
    label: "Side view",
    xLabel: "ground distance from now (m)",
    yLabel: "z (m)",
    view: side,
    isSide: true,
    ratio: 0.5,
  },
];

function draw(
  store: Store,
  example: Example,
  frame: Frame,
  near: boolean,
  width: number,
): Node | null {
  const now = example.history.slice(-1);
  const { view, isSide } = frame;
  const past = isSide ? mirrored(view([...example.history].reverse())) : view(example.history);
  const flown = view([...now, ...example.target]);
  const perSecond = Math.max(1, Math.round(1 / (store.results.protocol.window.dt ?? 0.1)));
  const lines = store.shown().flatMap((model) => {
    const path = example.forecasts.get(model.name)?.point ?? [];
    if (path.length === 0) return [];
    const points: XY[] = view([...now, ...path]).map((p) => ({ ...p, title: model.name }));
    return [{ model, points }];
  });
  const framed = [...past, ...flown, ...(near ? [] : lines.flatMap((each) => each.points))];
  if (framed.length === 0) return null;

  const margin = {
    marginTop: rem(1.4),
    marginRight: rem(0.8),
    marginBottom: rem(2.4),
    marginLeft: rem(3),
  };
  const height = Math.max(rem(14), width * frame.ratio);
  const domains = equalDomains(
    framed,
    near ? 1.5 : 1.08,
    width - margin.marginLeft - margin.marginRight,
    height - margin.marginTop - margin.marginBottom,
  );
  const ink = { x: "x", y: "y", stroke: "currentColor", clip: true } as const;
  return plot(`${frame.label} of one window: history, flown path and the models' point paths`, {
    ...margin,
    width,
    height,
    x: { domain: domains.x, label: frame.xLabel, grid: true, ticks: 6 },
    y: { domain: domains.y, label: frame.yLabel, grid: true, ticks: 6 },
    marks: [
      Plot.line(past, { ...ink, strokeWidth: 5, strokeOpacity: 0.35, strokeLinecap: "round" }),
      Plot.line(flown, { ...ink, strokeWidth: 5, strokeOpacity: 0.85, strokeLinecap: "round" }),
      ...lines
        .reverse()
        .flatMap(({ model, points }) => modelLine(model.index, points.slice(1), perSecond, true)),
      Plot.dot(view(now), {
        x: "x",
        y: "y",
        r: 5,
        fill: "var(--surface)",
        stroke: "currentColor",
        strokeWidth: 2,
      }),
      tip(
        lines.flatMap(({ points }) =>
          points
            .slice(1)
            .map((p, i) => ({ ...p, title: `${p.title}\n${short((i + 1) / perSecond)} s` })),
        ),
      ),
    ],
  });
}

export function examplesSection(store: Store): HTMLElement | null {
  const { examples } = store.results;
  if (examples.length === 0) return null;
  let index = 0,
    near = true;

  const charts = FRAMES.map((frame) => {
    const chart = responsive((width) => draw(store, examples[index]!, frame, near, width));
    store.watch(chart.redraw);
    return { frame, ...chart };
  });
  const scene = exampleScene(store, examples[0]!);
  const title = h("p", { class: "note", "aria-live": "polite" });
  const redraw = () => {
    const { flight, category, t0 } = examples[index]!;
    title.replaceChildren(
      "Flight ",
      nameOf(flight),
      category ? `, category ` : "",
      nameOf(category),
      t0 === null ? "" : `, t0 = ${t0} s. `,
      "Wide line: flown path, pale before now (the ring). Symbols: whole seconds. Paths may leave the frame. " +
        "In the first picture, dashed: the model's modes, the fainter the less likely; shade: its 90 % region. " +
        "Drag or use the arrow keys to turn it, Ctrl and wheel or + and − to come nearer, 0 to go back.",
    );
    scene.show(examples[index]!, near);
    for (const chart of charts) chart.redraw();
  };
  redraw();

  const options = examples.map((example, i) => ({
    value: String(i),
    label: `${i + 1}. ${example.category || "window"}: ${example.flight}`,
  }));
  return section(
    "examples",
    "Examples",
    [
      select("example", "window", options, "0", (value) => {
        index = Number(value);
        redraw();
      }),
      choice(
        "example-frame",
        "frame",
        [
          { value: "near", label: "near the flight" },
          { value: "all", label: "all paths" },
        ],
        "near",
        (value) => {
          near = value === "near";
          redraw();
        },
      ),
    ],
    title,
    scene.node,
    h(
      "div",
      { class: "halves" },
      ...charts.map(({ frame, node }) =>
        h("figure", {}, h("h3", {}, frame.label), node, frame.isSide ? legend(store) : null),
      ),
    ),
  );
}
