// SPDX-License-Identifier: BSD-3-Clause
// What all charts share: size, colours, and drawing again when the width changes.
import * as Plot from "@observablehq/plot";
import { h } from "../common/dom";

// Colour and symbol repeat after 8, the dash changes then: 30 models look different, and symbols
// and dashes tell apart what colour alone does not. The colours are in theme.css.
const COLOURS = 8;
const SYMBOLS = [
  "circle",
  "square",
  "triangle",
  "diamond",
  "star",
  "wye",
  "cross",
  "hexagon",
] as const;
const DASHES = ["none", "6 3", "1.5 3", "8 3 1.5 3", "12 4"];

export const colour = (model: number): string => `var(--model-${model % COLOURS})`;
export const symbol = (model: number): Plot.SymbolType => SYMBOLS[model % SYMBOLS.length]!;
export const dash = (model: number): string => DASHES[Math.floor(model / COLOURS) % DASHES.length]!;

/** Pixels of `n` rem: Plot wants pixels, and large screens have larger text. */
export const rem = (n: number): number =>
  n * parseFloat(getComputedStyle(document.documentElement).fontSize);

export interface XY {
  x: number;
  y: number;
  title: string;
}

/** One model's line with a symbol at every `every`-th point, the first of them being number `every`. */
export function modelLine(
  model: number,
  points: XY[],
  every: number,
  clip = false,
): Plot.Markish[] {
  const style = { x: "x", y: "y", clip } as const;
  return [
    Plot.line(points, {
      ...style,
      stroke: colour(model),
      strokeWidth: rem(0.12),
      strokeDasharray: dash(model),
    }),
    Plot.dot(
      points.filter((_, i) => (i + 1) % every === 0),
      { ...style, fill: colour(model), symbol: symbol(model), r: rem(0.2) },
    ),
  ];
}

export function tip(points: XY[]): Plot.Markish {
  return Plot.tip(
    points,
    Plot.pointer({ x: "x", y: "y", title: "title", lineHeight: 1.3, maxRadius: Infinity }),
  );
}

export function plot(label: string, options: Plot.PlotOptions): HTMLElement | SVGSVGElement {
  const chart = Plot.plot({
    marginTop: rem(1.4),
    marginRight: rem(1),
    marginBottom: rem(2.4),
    marginLeft: rem(3.2),
    className: "plot",
    ariaLabel: label,
    ...options,
    style: { fontSize: `${rem(0.75)}px`, fontFamily: "inherit" },
  }) as HTMLElement | SVGSVGElement;
  chart.setAttribute("role", "img");
  return chart;
}

/** The line sample of a legend. */
export function swatch(model: number): SVGSVGElement {
  const chart = Plot.plot({
    width: 30,
    height: 12,
    margin: 0,
    className: "swatch",
    x: { axis: null, domain: [0, 2] },
    y: { axis: null, domain: [0, 2] },
    marks: modelLine(
      model,
      [0, 1, 2].map((x) => ({ x, y: 1, title: "" })),
      2,
    ),
  }) as SVGSVGElement;
  chart.setAttribute("aria-hidden", "true");
  return chart;
}

/** A box that holds what `draw` makes of its width; `draw()` returns null when there is no data. */
export function responsive(draw: (width: number) => Node | null): {
  node: HTMLElement;
  redraw: () => void;
} {
  const node = h("div", { class: "chart" });
  let width = 0;
  const redraw = () => {
    if (width > 0)
      node.replaceChildren(draw(width) ?? h("p", { class: "empty" }, "No data for this choice."));
  };
  new ResizeObserver((entries) => {
    const now = Math.floor(entries[0]!.contentRect.width);
    if (now === width || now === 0) return;
    width = now;
    redraw();
  }).observe(node);
  return { node, redraw };
}
