// SPDX-License-Identifier: BSD-3-Clause
import * as Plot from "@observablehq/plot";
import { h } from "../common/dom";
import { legend, scaleChoice } from "./controls";
import { decimalsFor, fixed, short } from "./format";
import { modelLine, plot, rem, responsive, tip, type XY } from "./plots";
import type { Model } from "./results";
import { columns, modelHeading, note, numberCell, scrollBox, section } from "./section";
import type { Store } from "./store";

export function horizonSection(store: Store): HTMLElement {
  const dt = store.results.protocol.window.dt ?? 0.1;
  let scale: "linear" | "log" = "linear";

  const line = (model: Model): XY[] =>
    (store.groupOf(model)?.error ?? []).flatMap((error, i) => {
      const x = Number(((i + 1) * dt).toFixed(6));
      if (error === null || (scale === "log" && error <= 0)) return [];
      return [{ x, y: error, title: `${model.name}\n${short(error)} m after ${x} s` }];
    });
  const chart = responsive((width) => {
    const lines = store.shown().map((model) => ({ model, points: line(model) }));
    const points = lines.flatMap((each) => each.points);
    if (points.length === 0) return null;
    return plot(
      "Mean distance error in metres over the forecast horizon in seconds, one line per model",
      {
        width,
        height: Math.min(rem(24), Math.max(rem(16), width * 0.55)),
        x: { label: "horizon (s)", domain: [0, Math.max(...points.map((p) => p.x))], ticks: 6 },
        y: {
          type: scale,
          label: "error (m)",
          grid: true,
          zero: scale === "linear",
          ticks: 6,
          tickFormat: "~g",
        },
        marks: [
          Plot.ruleX([0], { stroke: "var(--line)" }),
          // Worst first, so that the best lines lie on top.
          ...lines
            .reverse()
            .flatMap(({ model, points }) =>
              modelLine(model.index, points, Math.max(1, Math.round(1 / dt))),
            ),
          tip(points),
        ],
      },
    );
  });
  store.watch(chart.redraw);

  return section(
    "horizon",
    "Error over the horizon",
    [
      scaleChoice("horizon-scale", (value) => {
        scale = value;
        chart.redraw();
      }),
    ],
    h(
      "div",
      { class: "split" },
      h("figure", {}, chart.node, legend(store)),
      h(
        "div",
        { class: "aside" },
        secondsTable(store),
        note("Mean distance in metres between point path and flown path, at each whole second."),
      ),
    ),
  );
}

function secondsTable(store: Store): HTMLElement {
  const table = h("table", { id: "seconds-table" });
  store.watch(() => {
    const seconds = [
      ...new Set(
        store.results.models.flatMap(
          (model) => store.groupOf(model)?.horizons.map((horizon) => horizon.t) ?? [],
        ),
      ),
    ].sort((a, b) => a - b);
    const at = (model: Model, t: number) =>
      store.groupOf(model)?.horizons.find((horizon) => horizon.t === t)?.error ?? null;
    const decimals = seconds.map((t) =>
      Math.min(3, decimalsFor(store.ranking.map((model) => at(model, t)))),
    );
    table.replaceChildren(
      columns("Model", ...seconds.map((t) => `#${t} s`)),
      h(
        "tbody",
        {},
        ...store.ranking.map((model) =>
          h(
            "tr",
            {},
            modelHeading(model),
            ...seconds.map((t, i) =>
              numberCell(at(model, t), fixed(at(model, t), decimals[i]!), {
                metric: "error",
                model: model.name,
                group: store.group,
                t: String(t),
              }),
            ),
          ),
        ),
      ),
    );
  });
  return scrollBox("error at each whole second", table);
}
