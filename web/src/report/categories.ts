// SPDX-License-Identifier: BSD-3-Clause
// One small chart per category, all on the same scale.
import * as Plot from "@observablehq/plot";
import { h, nameOf } from "../common/dom";
import { scaleChoice, select } from "./controls";
import { interval, plural, short, truncated } from "./format";
import { colour, plot, rem, responsive, symbol } from "./plots";
import { leadMetric, type Group, type Metric, type Results } from "./results";
import { note, section } from "./section";
import type { Store } from "./store";

interface Bar {
  model: number;
  name: string;
  value: number;
  low: number;
  high: number;
  title: string;
}
type Scale = "linear" | "log";

const NAME_LENGTH = 16;

function bars(store: Store, metric: Metric, category: string, scale: Scale): Bar[] {
  return store.shown().flatMap((model) => {
    const found = model.groups.get(category)?.metrics.get(metric.key);
    if (!found || found.value === null || (scale === "log" && found.value <= 0)) return [];
    const { value } = found;
    const low = found.low ?? value;
    return [
      {
        model: model.index,
        name: model.name,
        value,
        low: scale === "log" && low <= 0 ? value : low,
        high: found.high ?? value,
        title: `${model.name}\n${short(value)} ${metric.unit}\n${interval(found, 3)}`,
      },
    ];
  });
}

function panel(
  results: Results,
  group: Group,
  data: Bar[],
  domain: [number, number],
  metric: Metric,
  scale: Scale,
  width: number,
): HTMLElement {
  const names = new Map(
    results.models.map((model) => [String(model.index), truncated(model.name, NAME_LENGTH)]),
  );
  const longest = Math.max(...data.map((bar) => names.get(String(bar.model))!.length));
  const channels = { x: "value", y: (bar: Bar) => String(bar.model) };
  const ink = (bar: Bar) => colour(bar.model);
  const chart = plot(`${metric.name} in ${group.name}, one row per model`, {
    width,
    height: rem(1.9 + 1.25 * data.length),
    marginTop: rem(0.2),
    marginBottom: rem(1.7),
    marginLeft: rem(1.2 + 0.42 * longest),
    x: { type: scale, domain, label: null, grid: true, ticks: 4, tickFormat: "~g" },
    y: {
      domain: data.map((bar) => String(bar.model)),
      label: null,
      tickSize: 0,
      padding: 0.3,
      tickFormat: (model: string) => names.get(model) ?? "",
    },
    marks: [
      // A bar needs a zero to start from; on a logarithmic scale there is none.
      scale === "linear"
        ? Plot.barX(data, { ...channels, fill: ink, fillOpacity: 0.75 })
        : Plot.dot(data, {
            ...channels,
            fill: ink,
            symbol: (bar: Bar) => symbol(bar.model),
            r: rem(0.22),
          }),
      Plot.ruleY(data, {
        y: channels.y,
        x1: "low",
        x2: "high",
        stroke: scale === "log" ? ink : "currentColor",
        strokeWidth: rem(0.1),
      }),
      scale === "linear" ? Plot.ruleX([0], { stroke: "currentColor", strokeOpacity: 0.5 }) : null,
      Plot.tip(data, Plot.pointerY({ ...channels, title: "title", lineHeight: 1.3 })),
    ],
  });
  return h(
    "figure",
    {},
    h(
      "figcaption",
      {},
      nameOf(group.name),
      h("small", {}, ` ${plural(group.windows, "window")}, ${plural(group.flights, "flight")}`),
    ),
    chart,
  );
}

export function categoriesSection(store: Store): HTMLElement | null {
  const { results } = store;
  const categories = results.groups.filter((group) => group.kind === "category");
  const lead = leadMetric(results);
  if (categories.length === 0 || !lead) return null;
  let metric = lead,
    scale: Scale = "linear";

  const chart = responsive((width) => {
    const panels = categories
      .map(({ key }) => ({
        group: results.models
          .map((model) => model.groups.get(key))
          .find((group) => group !== undefined)!,
        data: bars(store, metric, key, scale),
      }))
      .filter(({ data }) => data.length > 0);
    const ends = panels.flatMap(({ data }) =>
      data.flatMap((bar) => [bar.low, bar.value, bar.high]),
    );
    if (ends.length === 0) return null;
    const low = Math.min(...ends),
      high = Math.max(...ends);
    const domain: [number, number] =
      scale === "log" ? [low / 1.1, high * 1.1] : [Math.min(0, low), Math.max(0, high) * 1.02];
    const rows = Math.ceil(panels.length / Math.max(1, Math.floor(width / rem(20))));
    const columns = Math.ceil(panels.length / rows);
    const gap = rem(1.5);
    const each = Math.floor((width - gap * (columns - 1)) / columns);
    return h(
      "div",
      { class: "panels", style: `grid-template-columns: repeat(${columns}, minmax(0, ${each}px))` },
      ...panels.map(({ group, data }) => panel(results, group, data, domain, metric, scale, each)),
    );
  });
  const unit = h("span");
  const redraw = () => {
    unit.textContent = `${metric.name}${metric.unit ? ` in ${metric.unit}` : ""}.`;
    chart.redraw();
  };
  store.watch(redraw);

  const options = results.metrics.map(({ key, name, of }) => ({
    value: key,
    label: of ? `${name} (${of})` : name,
  }));
  return section(
    "categories",
    "By category",
    [
      select("category-metric", "metric", options, metric.key, (key) => {
        metric = results.metrics.find((each) => each.key === key) ?? lead;
        redraw();
      }),
      scaleChoice("category-scale", (value) => {
        scale = value;
        redraw();
      }),
    ],
    chart.node,
    note(
      unit,
      " All charts share one scale. Thin lines: intervals. Models in the order of their rank over all windows; " +
        "the legend above says which are shown. A logarithmic scale leaves out values that are not positive.",
    ),
  );
}
