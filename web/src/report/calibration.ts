// SPDX-License-Identifier: BSD-3-Clause
import * as Plot from "@observablehq/plot";
import { h, nameOf, type Child } from "../common/dom";
import { legend, select } from "./controls";
import { level, percent, short } from "./format";
import { colour, modelLine, plot, rem, responsive, tip } from "./plots";
import { DIRECTIONS, REGIONS, type Horizon, type Maybe } from "./results";
import { columns, note, numberCell, scrollBox, section } from "./section";
import type { Store } from "./store";

const REGION_NAMES = {
  region: "Own region (highest density)",
  radial: "Radial (ellipsoid of the matched Gaussian)",
  conformal: "Conformal ball",
};
const DIRECTION_NAMES = { along: "Along track", across: "Across track", vertical: "Vertical" };

function curves(store: Store): HTMLElement {
  const chart = responsive((width) => {
    const lines = store.shown().map((model) => ({
      model,
      points: (store.groupOf(model)?.calibration ?? []).map(({ nominal, empirical }) => ({
        x: 100 * nominal,
        y: 100 * empirical,
        title: `${model.name}\nstated ${level(nominal)}, held ${percent(empirical)} %`,
      })),
    }));
    const points = lines.flatMap((each) => each.points);
    if (points.length === 0) return null;
    const size = Math.min(width, rem(40));
    const axis = { domain: [0, 100], ticks: 5, grid: true };
    return plot("Calibration: empirical share over nominal share, one line per model", {
      width: size,
      height: size + rem(0.4),
      x: { ...axis, label: "stated (%)" },
      y: { ...axis, label: "held (%)" },
      marks: [
        Plot.link([0], {
          x1: 0,
          y1: 0,
          x2: 100,
          y2: 100,
          stroke: "currentColor",
          strokeOpacity: 0.5,
          strokeDasharray: "3 3",
        }),
        ...lines.reverse().flatMap(({ model, points }) => modelLine(model.index, points, 2)),
        tip(points),
      ],
    });
  });
  store.watch(chart.redraw);
  return h(
    "figure",
    {},
    h("h3", {}, "Calibration curve"),
    chart.node,
    legend(store),
    note(
      "Share of flown positions inside the region that states a share, pooled over the horizons. On the diagonal: calibrated; " +
        "below: overconfident; above: too cautious.",
    ),
  );
}

// The tint is deep where the share is ten points or more away from what was stated.
function tint(td: HTMLElement, stated: number, share: Maybe): void {
  if (share === null) return;
  td.classList.add(share < stated ? "under" : "over");
  td.style.setProperty(
    "--depth",
    `${Math.round(100 * Math.min(1, Math.abs(share - stated) / 0.1))}%`,
  );
}

function coverageRows(
  store: Store,
  kind: (typeof REGIONS)[number],
  horizons: Horizon[],
  levels: number[],
): HTMLElement[] {
  return horizons.map(({ t, coverage, sharpness90 }) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, `${t} s`),
      ...levels.map((stated) => {
        const share = coverage[kind].get(stated) ?? null;
        const td = numberCell(share, percent(share), {
          metric: `coverage.${kind}`,
          model: store.model.name,
          group: store.group,
          t: String(t),
          level: String(stated),
        });
        tint(td, stated, share);
        return td;
      }),
      kind !== "region"
        ? h("td")
        : numberCell(sharpness90, short(sharpness90), {
            metric: "sharpness_90",
            model: store.model.name,
            group: store.group,
            t: String(t),
          }),
    ),
  );
}

function coverageTable(store: Store): HTMLElement {
  const table = h("table", { id: "coverage-table", class: "coverage" });
  const after = h("p", { class: "note" });
  store.watch(() => {
    const group = store.groupOf(store.model);
    const horizons = group?.horizons ?? [];
    const levels = [
      ...new Set(
        horizons.flatMap(({ coverage }) => REGIONS.flatMap((kind) => [...coverage[kind].keys()])),
      ),
    ].sort((a, b) => a - b);
    const bodies = REGIONS.filter((kind) =>
      horizons.some(({ coverage }) => coverage[kind].size > 0),
    ).map((kind) =>
      h(
        "tbody",
        {},
        h("tr", {}, h("th", { scope: "rowgroup", colspan: levels.length + 2 }, REGION_NAMES[kind])),
        ...coverageRows(store, kind, horizons, levels),
      ),
    );
    table.replaceChildren(
      h(
        "caption",
        {},
        "Coverage of ",
        nameOf(store.model.name),
        bodies.length > 0 ? ", %" : ": no data",
      ),
      bodies.length === 0
        ? ""
        : columns("Horizon", ...levels.map((stated) => `#${level(stated)}`), "#90 % radius (m)"),
      ...bodies,
    );
    after.replaceChildren(
      ...legendOfTints(),
      group && group.modeUse.length > 1
        ? ` Nearest mode, by share of windows: ${group.modeUse.map((s) => percent(s, 0)).join(", ")} %.`
        : "",
    );
  });
  return h("div", {}, scrollBox("coverage by horizon", table), after);
}

function legendOfTints(): (Node | string)[] {
  return [
    "Empirical share of flown positions inside the region that states the share in the heading. ",
    h("span", { class: "key under" }, "too few inside"),
    " ",
    h("span", { class: "key over" }, "too many inside"),
    ".",
  ];
}

function pitPanel(
  direction: (typeof DIRECTIONS)[number],
  shares: number[],
  top: number,
  model: number,
  width: number,
): HTMLElement {
  const n = shares.length;
  const data = shares.map((share, i) => ({
    x1: i / n,
    x2: (i + 1) / n,
    y: 100 * share,
    title: `${short(i / n)} … ${short((i + 1) / n)}\n${percent(share)} %`,
  }));
  const name = DIRECTION_NAMES[direction];
  return h(
    "figure",
    {},
    h("figcaption", {}, name),
    plot(`PIT histogram, ${name}: share of windows per bin`, {
      width,
      height: rem(11),
      marginTop: rem(0.6),
      x: { domain: [0, 1], label: "PIT", ticks: 5 },
      y: {
        domain: [0, 100 * top],
        label: direction === "along" ? "share (%)" : null,
        ticks: 4,
        grid: true,
        labelAnchor: "center",
      },
      marks: [
        Plot.rectY(data, {
          x1: "x1",
          x2: "x2",
          y: "y",
          fill: colour(model),
          fillOpacity: 0.75,
          inset: 0.5,
        }),
        Plot.ruleY([100 / n], { stroke: "currentColor", strokeDasharray: "4 3" }),
        Plot.ruleY([0], { stroke: "currentColor", strokeOpacity: 0.5 }),
        Plot.tip(
          data,
          Plot.pointerX({ x1: "x1", x2: "x2", y: "y", title: "title", lineHeight: 1.3 }),
        ),
      ],
    }),
  );
}

function pit(store: Store): HTMLElement {
  const seconds = [
    ...new Set(
      store.results.models.flatMap((model) =>
        [...model.groups.values()].flatMap((group) => group.horizons.map((horizon) => horizon.t)),
      ),
    ),
  ].sort((a, b) => a - b);
  let t = seconds.at(-1) ?? 0;
  const chart = responsive((width) => {
    const histograms = store.groupOf(store.model)?.horizons.find((horizon) => horizon.t === t)?.pit;
    const top =
      1.05 * Math.max(0, ...DIRECTIONS.flatMap((direction) => histograms?.[direction] ?? []));
    if (!histograms || top === 0) return null;
    const columns = width < rem(36) ? 1 : 3;
    const each = Math.floor((width - rem(1) * (columns - 1)) / columns);
    return h(
      "div",
      {
        class: "panels",
        style: `grid-template-columns: repeat(${columns}, minmax(0, ${each}px)); column-gap: 1rem`,
      },
      ...DIRECTIONS.map((direction) =>
        pitPanel(direction, histograms[direction], top, store.model.index, each),
      ),
    );
  });
  const title = h("h3");
  store.watch(() => {
    title.replaceChildren("PIT histograms of ", nameOf(store.model.name));
    chart.redraw();
  });
  const horizons: Child =
    seconds.length === 0
      ? null
      : select(
          "pit-horizon",
          "horizon",
          seconds.map((s) => ({ value: String(s), label: `${s} s` })),
          String(t),
          (value) => {
            t = Number(value);
            chart.redraw();
          },
        );
  return h(
    "div",
    { id: "pit" },
    h("header", {}, title, horizons),
    chart.node,
    note(
      "Where the flown position falls in the forecast's distribution, per direction. Flat: calibrated. " +
        "U-shaped: too narrow. Humped: too wide. Sloped: biased.",
    ),
  );
}

export function calibrationSection(store: Store): HTMLElement {
  const models = store.ranking.map((model) => ({ value: String(model.index), label: model.name }));
  const picker = select(
    "detail-model",
    "model in detail",
    models,
    String(store.model.index),
    (index) => store.change({ model: store.results.models[Number(index)]! }),
  );
  return section(
    "calibration",
    "Calibration",
    [picker],
    h("div", { class: "halves" }, curves(store), coverageTable(store)),
    pit(store),
  );
}
