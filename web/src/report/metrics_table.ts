// SPDX-License-Identifier: BSD-3-Clause
// The main table: models × metrics for the chosen group of windows.
import { h } from "../common/dom";
import { decimalsFor, fixed, groupLabel, interval, level, plural } from "./format";
import { byValue, leadMetric, type Estimate, type Metric, type Model } from "./results";
import { modelHeading, note, numberCell, scrollBox, section } from "./section";
import type { Store } from "./store";

const NOTHING: Estimate = { value: null, low: null, high: null };

interface Column {
  metric: Metric;
  decimals: number;
  best: number | null;
}

function describe(store: Store, metric: Metric): Column {
  const values = store.results.models.map((model) => estimate(store, model, metric).value);
  const known = values.filter((value) => value !== null);
  const best =
    metric.lowerIsBetter === null || known.length < 2
      ? null
      : metric.lowerIsBetter
        ? Math.min(...known)
        : Math.max(...known);
  return { metric, decimals: decimalsFor(values), best };
}

function estimate(store: Store, model: Model, metric: Metric): Estimate {
  return store.groupOf(model)?.metrics.get(metric.key) ?? NOTHING;
}

function cell(store: Store, model: Model, { metric, decimals, best }: Column): HTMLElement {
  const found = estimate(store, model, metric);
  const td = numberCell(
    found.value,
    fixed(found.value, decimals),
    { metric: metric.key, model: model.name, group: store.group },
    found.value === null ? null : h("small", {}, interval(found, decimals)),
  );
  td.dataset.low = JSON.stringify(found.low);
  td.dataset.high = JSON.stringify(found.high);
  if (found.value !== null && found.value === best) {
    td.classList.add("best");
    td.prepend(h("span", { class: "unseen" }, "best: "));
  }
  return td;
}

function heading(metric: Metric, onClick: () => void): HTMLElement {
  return h(
    "th",
    { scope: "col", "data-metric": metric.key, "aria-sort": "none", title: metric.meaning },
    h(
      "button",
      { type: "button", click: onClick },
      h(
        "span",
        { class: "title" },
        metric.name,
        metric.unit ? h("span", { class: "unit" }, ` ${metric.unit}`) : null,
      ),
      h("small", {}, metric.space),
      h("small", {}, metric.of),
    ),
  );
}

export function metricsTable(store: Store): HTMLElement {
  const { results } = store;
  const { interval: bootstrap } = results.protocol;
  let sortBy = leadMetric(results),
    bestFirst = true;

  const sort = (metric: Metric | null) => {
    bestFirst = metric === sortBy ? !bestFirst : true;
    sortBy = metric;
    draw();
  };
  const order = (a: Model, b: Model): number => {
    if (sortBy === null) return (bestFirst ? 1 : -1) * a.name.localeCompare(b.name);
    const x = estimate(store, a, sortBy).value,
      y = estimate(store, b, sortBy).value;
    const worstFirst = x !== null && y !== null && !bestFirst;
    return byValue(sortBy.lowerIsBetter, worstFirst ? y : x, worstFirst ? x : y);
  };

  const nameHeading = h(
    "th",
    { scope: "col", "aria-sort": "none" },
    h(
      "button",
      { type: "button", click: () => sort(null) },
      h("span", { class: "title" }, "Model"),
    ),
  );
  const headings = new Map<Metric | null, HTMLElement>([
    [null, nameHeading],
    ...results.metrics.map((metric) => [metric, heading(metric, () => sort(metric))] as const),
  ]);
  const body = h("tbody");
  const caption = h("caption");
  const draw = () => {
    const ascending = bestFirst === (sortBy?.lowerIsBetter !== false);
    for (const [metric, th] of headings) {
      th.setAttribute(
        "aria-sort",
        metric !== sortBy ? "none" : ascending ? "ascending" : "descending",
      );
    }
    const columns = results.metrics.map((metric) => describe(store, metric));
    body.replaceChildren(
      ...[...results.models]
        .sort(order)
        .map((model) =>
          h("tr", {}, modelHeading(model), ...columns.map((column) => cell(store, model, column))),
        ),
    );
    caption.textContent = size(store);
  };
  store.watch(draw);

  const table = h(
    "table",
    { id: "metrics-table", class: "metrics" },
    caption,
    h("thead", {}, h("tr", {}, ...headings.values())),
    body,
  );
  return section(
    "metrics",
    "Metrics",
    [],
    scrollBox("metrics of all models", table),
    note(
      `Small figures: ${level(bootstrap.level)} bootstrap interval over ${bootstrap.cluster}s ` +
        `(${plural(bootstrap.clusters, "cluster")}). Shaded: best of its column. ` +
        "A dash: the model has no such number. Select a heading to sort.",
    ),
  );
}

function size(store: Store): string {
  const groups = store.results.models
    .map((model) => store.groupOf(model))
    .filter((group) => group !== undefined);
  const first = groups[0];
  if (!first) return "";
  const uneven = groups.some((group) => group.windows !== first.windows)
    ? "; models were scored on different windows"
    : "";
  return `${groupLabel(first)}: ${plural(first.windows, "window")} of ${plural(first.flights, "flight")}${uneven}`;
}
