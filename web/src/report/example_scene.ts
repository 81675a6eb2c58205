// SPDX-License-Identifier: BSD-3-Clause
// One window and one model in three dimensions: what was seen, what was flown, the model's point
// path, its modes and its 90 % region, with everything at one chosen instant marked.
import { h } from "../common/dom";
import { select } from "./controls";
import { level, short } from "./format";
import { colour } from "./plots";
import type { Example, ExampleForecast, Model, Point } from "./results";
import { Camera, Scene, boxAround, orbitCanvas, type Box } from "./scene";
import type { Store } from "./store";

interface View {
  example: Example;
  model: Model | undefined;
  forecast: ExampleForecast | undefined;
  near: boolean;
  step: number; // steps behind t0; 0: now
  perSecond: number;
}

/** A colour of the theme (#rrggbb) as a canvas takes it, mixed with the background: opaque. */
function ink(name: string, strength = 1): string {
  const parse = (variable: string) => {
    const text = getComputedStyle(document.documentElement).getPropertyValue(variable).trim();
    return [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
  };
  const [full, ground] = [parse(name), parse("--surface")];
  const mixed = full.map((x, i) => Math.round(strength * x + (1 - strength) * ground[i]!));
  return `rgb(${mixed.join(" ")})`;
}
const inkOf = (model: Model, strength = 1) => ink(colour(model.index).slice(4, -1), strength);
const weightInk = (model: Model, weight: number) => inkOf(model, 0.2 + 0.8 * Math.min(1, weight));

const onFloor = (path: Point[], z: number): Point[] => path.map(([x, y]) => [x, y, z]);

/** 1, 2 or 5 times a power of ten, about `length`. */
function roundLength(length: number): number {
  const power = 10 ** Math.floor(Math.log10(length));
  return ([5, 2, 1].find((digit) => digit * power <= length) ?? 1) * power;
}

function drawFloor(scene: Scene, box: Box, z: number): number {
  const step = roundLength(box.ground / 2.5);
  const [cx, cy] = box.centre;
  const edge = (c: number, sign: number) =>
    (sign > 0 ? Math.ceil : Math.floor)((c + sign * 0.75 * box.ground) / step) * step;
  const [x0, x1, y0, y1] = [edge(cx, -1), edge(cx, 1), edge(cy, -1), edge(cy, 1)];
  const stroke = { colour: ink("--line"), width: 1 };
  for (let x = x0; x <= x1 + step / 2; x += step)
    scene.line(
      [
        [x, y0, z],
        [x, y1, z],
      ],
      stroke,
    );
  for (let y = y0; y <= y1 + step / 2; y += step)
    scene.line(
      [
        [x0, y, z],
        [x1, y, z],
      ],
      stroke,
    );
  const muted = ink("--muted");
  scene.text([x1, y0, z], "x", muted);
  scene.text([x0, y1, z], "y", muted);
  scene.finish(); // the floor lies below everything else
  return step;
}

function drawFlight(scene: Scene, view: View, floor: number): void {
  const { example, perSecond } = view;
  const now = example.history.slice(-1);
  const flown = [...now, ...example.target];
  const text = ink("--text");
  const shadow = { colour: ink("--text", 0.14), width: 2 };
  scene.line(onFloor([...example.history, ...example.target], floor), shadow);
  flown.forEach((p, i) => {
    if (i % perSecond === 0) scene.line([p, ...onFloor([p], floor)], { ...shadow, width: 1 });
  });
  scene.line(example.history, { colour: ink("--text", 0.35), width: 4 });
  scene.line(flown, { colour: ink("--text", 0.85), width: 4 });
  flown.forEach((p, i) => {
    if (i > 0 && i % perSecond === 0) scene.dot(p, 4, text);
  });
  for (const p of now) scene.dot(p, 5, ink("--surface"), { colour: text, width: 2 });
}

function drawForecast(scene: Scene, view: View, floor: number): void {
  const { example, forecast, model, perSecond } = view;
  if (!forecast || !model || forecast.point.length === 0) return;
  const paint = inkOf(model);
  const now = example.history.slice(-1);
  const path = [...now, ...forecast.point];
  scene.line(onFloor(path, floor), { colour: inkOf(model, 0.25), width: 2 });
  for (const { weight, mean } of forecast.modes) {
    const faint = weightInk(model, weight);
    scene.line([...now, ...mean], { colour: faint, width: 2, dash: [6, 5] });
    const end = mean.at(-1);
    if (end && forecast.modes.length > 1) {
      scene.dot(end, 2.5, faint);
      scene.text(end, level(Number(weight.toFixed(2))), ink("--text"));
    }
  }
  scene.line(path, { colour: paint, width: 3 });
  forecast.point.forEach((p, i) => {
    const r = forecast.radius90[i];
    if ((i + 1) % perSecond !== 0) return;
    scene.dot(p, 3.5, paint);
    if (r !== undefined) scene.ball(p, r, { colour: inkOf(model, 0.45), width: 1 });
  });
}

/** Everything at t0 + tau. */
function drawInstant(scene: Scene, view: View): void {
  const { example, forecast, model, step } = view;
  if (step === 0) return;
  const at = step - 1;
  const surface = ink("--surface"),
    text = ink("--text");
  const truth = example.target[at];
  const point = forecast?.point[at];
  if (point && model) {
    const paint = inkOf(model);
    const r = forecast.radius90[at];
    if (r !== undefined) scene.ball(point, r, { colour: paint, width: 2.5 });
    for (const { weight, mean } of forecast.modes) {
      const p = mean[at];
      if (p) scene.dot(p, 5, weightInk(model, weight), { colour: surface, width: 1.5 });
    }
    if (truth) scene.line([truth, point], { colour: text, width: 1.5, dash: [2, 4] });
    scene.dot(point, 6.5, paint, { colour: surface, width: 2 });
  }
  if (truth) scene.dot(truth, 6.5, text, { colour: surface, width: 2 });
}

function paintView(
  to: CanvasRenderingContext2D,
  width: number,
  height: number,
  camera: Camera,
  view: View,
): void {
  to.clearRect(0, 0, width, height);
  to.font = `13px ${getComputedStyle(document.body).fontFamily}`;
  const { example, forecast, near } = view;
  const framed = [
    ...example.history,
    ...example.target,
    ...(near
      ? []
      : [...(forecast?.point ?? []), ...(forecast?.modes ?? []).flatMap((m) => m.mean)]),
  ];
  if (framed.length === 0) return;
  const room = near ? 1.35 : 1.05;
  const flight = boxAround(framed, room);
  const lowest = flight.centre[2] - flight.height;
  // The ground, where the flight is near it; else a level a little below the flight.
  const floor = lowest >= 0 && lowest < 0.8 * flight.ground ? 0 : lowest - 0.2 * flight.ground;
  const box = boxAround([...framed, ...onFloor(framed.slice(0, 1), floor)], room);
  const scene = new Scene(to, width, height, camera, box);
  const grid = drawFloor(scene, box, floor);
  if (forecast && view.model && forecast.radius90.length > 0)
    scene.tube(forecast.point, forecast.radius90, inkOf(view.model), 0.13);
  drawFlight(scene, view, floor);
  drawForecast(scene, view, floor);
  scene.finish();
  drawInstant(scene, view);
  scene.finish();
  to.fillStyle = ink("--muted");
  const plain = (length: number) => String(Number(length.toPrecision(2)));
  to.fillText(`grid ${plain(grid)} m, at z = ${plain(floor)} m`, 10, height - 12);
}

const distance = (a: Point, b: Point) => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);

/** What the marks at t0 + tau say, in words. */
function describe({ example, forecast, model, step, perSecond }: View): string {
  if (!forecast || !model || forecast.point.length === 0)
    return "No forecast of this window by this model.";
  const quality =
    forecast.quality === "ok" ? "" : ` Quality: ${forecast.quality.replaceAll("_", " ")}.`;
  if (step === 0) return `t0: the newest observation.${quality}`;
  const truth = example.target[step - 1],
    point = forecast.point[step - 1],
    radius = forecast.radius90[step - 1];
  const text = `t0 + ${short(step / perSecond)} s`;
  if (!truth || !point) return `${text}: not forecast.${quality}`;
  const error = distance(truth, point);
  const region =
    radius === undefined
      ? "no region stated"
      : `${error <= radius ? "inside" : "outside"} the 90 % region of ${short(radius)} m ` +
        (forecast.regionFrom === "conformal" ? "(conformal)" : "(draws from the mixture)");
  return `${text}: ${short(error)} m from the flown path, ${region}.${quality}`;
}

export interface ExampleScene {
  node: HTMLElement;
  show: (example: Example, near: boolean) => void;
}

function timeSlider(steps: number, onChange: (step: number) => void): HTMLElement {
  const slider = h("input", {
    type: "range",
    id: "example-time",
    min: 0,
    max: steps,
    step: 1,
    value: steps,
    input: () => onChange(Number(slider.value)),
  });
  return h("label", { class: "control time" }, h("span", {}, "time"), slider);
}

export function exampleScene(store: Store, first: Example): ExampleScene {
  const { dt } = store.results.protocol.window;
  const steps = store.results.examples.reduce((n, each) => Math.max(n, each.target.length), 1);
  let model = store.ranking.find((each) => first.forecasts.has(each.name)) ?? store.ranking[0];
  let example = first,
    near = true,
    step = steps;
  const view = (): View => ({
    example,
    model,
    forecast: example.forecasts.get(model?.name ?? ""),
    near,
    step,
    perSecond: Math.max(1, Math.round(1 / (dt ?? 0.1))),
  });
  const camera = new Camera();
  const canvas = orbitCanvas(
    "One window in three dimensions: history, flown path and one model's forecast",
    0.5,
    camera,
    (to, width, height) => paintView(to, width, height, camera, view()),
  );
  if (!canvas) {
    const sentence =
      "This browser draws no canvas; the plan and the side view show the same paths.";
    return { node: h("p", { class: "note" }, sentence), show: () => {} };
  }
  const words = h("output", { id: "example-instant", for: "example-time" });
  const redraw = () => {
    words.textContent = describe(view());
    canvas.redraw();
  };
  const models = store.ranking.map((each) => ({ value: String(each.index), label: each.name }));
  const controls = h(
    "div",
    { class: "scene-controls" },
    select("example-model", "model", models, String(model?.index ?? 0), (value) => {
      model = store.ranking.find((each) => each.index === Number(value));
      redraw();
    }),
    timeSlider(steps, (chosen) => {
      step = chosen;
      redraw();
    }),
    words,
  );
  return {
    node: h("figure", { id: "example-scene" }, controls, canvas.node),
    show: (nextExample, nextNear) => {
      example = nextExample;
      near = nextNear;
      redraw();
    },
  };
}
