// SPDX-License-Identifier: BSD-3-Clause
import { h, nameOf } from "../common/dom";
import { count, decimalsFor, fixed, interval, level } from "./format";
import type { Comparison, Maybe, Metric, Results } from "./results";
import { columns, note, numberCell, scrollBox, section } from "./section";
import { differs } from "./verdict";

function outcome(comparison: Comparison, metric: Metric | undefined): (Node | string)[] {
  const real = differs(comparison);
  if (real === null || comparison.difference === null) return ["no interval"];
  if (!real) return ["not distinguishable"];
  const aIsLower = comparison.difference < 0;
  const better = metric?.lowerIsBetter === false ? !aIsLower : aIsLower;
  return [
    nameOf(better ? comparison.a : comparison.b),
    metric?.lowerIsBetter === null ? (aIsLower ? " lower" : " higher") : " better",
  ];
}

function row(results: Results, comparison: Comparison): HTMLElement {
  const metric = results.metrics.find(({ key }) => key === comparison.metric);
  const decimals = decimalsFor([comparison.meanA, comparison.meanB]);
  const cell = (field: string, value: Maybe, text: string) =>
    numberCell(value, text, {
      metric: comparison.metric,
      model: comparison.a,
      group: "comparison",
      against: comparison.b,
      field,
    });
  const range = h("td", { class: "number" }, interval(comparison, decimals));
  range.dataset.low = JSON.stringify(comparison.low);
  range.dataset.high = JSON.stringify(comparison.high);
  return h(
    "tr",
    { class: differs(comparison) === false ? "even" : null },
    h("th", { scope: "row" }, nameOf(comparison.a)),
    h("td", {}, nameOf(comparison.b)),
    h(
      "td",
      {},
      metric?.name ?? comparison.metric,
      metric?.unit ? h("span", { class: "unit" }, ` ${metric.unit}`) : null,
    ),
    cell("mean_a", comparison.meanA, fixed(comparison.meanA, decimals)),
    cell("mean_b", comparison.meanB, fixed(comparison.meanB, decimals)),
    cell("difference", comparison.difference, fixed(comparison.difference, decimals)),
    range,
    cell("clusters", comparison.clusters, count(comparison.clusters)),
    h("td", {}, ...outcome(comparison, metric)),
  );
}

export function comparisonSection(results: Results): HTMLElement | null {
  if (results.comparisons.length === 0) return null;
  const { cluster, level: share } = results.protocol.interval;
  const table = h(
    "table",
    { id: "comparison-table" },
    columns(
      "A",
      "B",
      "Metric",
      "#Mean A",
      "#Mean B",
      "#A − B",
      `#${level(share)} interval`,
      `#${cluster}s`,
      "Outcome",
    ),
    h("tbody", {}, ...results.comparisons.map((comparison) => row(results, comparison))),
  );
  return section(
    "comparison",
    "Paired comparison",
    [],
    scrollBox("paired comparison", table),
    note(
      `Differences of the same windows, paired by ${cluster}; where the interval includes 0 the two are not distinguishable.`,
    ),
  );
}
