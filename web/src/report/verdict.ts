// SPDX-License-Identifier: BSD-3-Clause
// The first thing a reader wants: which model errs least, and how sure that is.
import { h, nameOf } from "../common/dom";
import { interval, decimalsFor, joined, level, percent, plural, short } from "./format";
import {
  leadMetric,
  type Comparison,
  type Group,
  type Metric,
  type Model,
  type Results,
} from "./results";
import type { Store } from "./store";

type Text = (Node | string)[];
const MAX_NAMES = 4;

export function differs({ low, high }: Pick<Comparison, "low" | "high">): boolean | null {
  return low === null || high === null ? null : low > 0 || high < 0;
}

function names(models: string[]): Text {
  return models.length <= MAX_NAMES ? joined(models.map(nameOf)) : [`${models.length} models`];
}

/** What the paired comparisons with the best model say about the others. */
function paired(results: Results, best: Model, metric: Metric): Text {
  const rivals = results.comparisons
    .filter(
      ({ a, b, metric: key }) =>
        key === metric.key && a !== b && (a === best.name || b === best.name),
    )
    .map((comparison) => ({
      name: comparison.a === best.name ? comparison.b : comparison.a,
      differs: differs(comparison),
    }));
  if (rivals.length === 0) {
    return results.models.length > 1
      ? [" The file holds no paired comparison, so the lead may be chance."]
      : [];
  }
  const { cluster } = results.protocol.interval;
  const equal = rivals.filter((rival) => rival.differs === false).map((rival) => rival.name);
  const unknown = rivals.filter((rival) => rival.differs === null).length;
  const behind = rivals.length - equal.length - unknown;
  const text: Text = [` Paired by ${cluster}, `];
  if (equal.length > 0) {
    text.push(
      ...names(equal),
      equal.length === 1 ? " is" : " are",
      " not distinguishable from it (the interval of the difference includes 0)",
    );
    text.push(
      behind > 0 ? `; the other ${behind === 1 ? "model is" : `${behind} models are`} worse.` : ".",
    );
  } else {
    text.push(
      behind === 0
        ? "nothing can be said."
        : behind === 1
          ? "the other model is worse."
          : `the ${behind} other models are all worse.`,
    );
  }
  if (unknown > 0) text.push(` ${plural(unknown, "comparison")} without interval.`);
  const missing = results.models.length - 1 - rivals.length;
  if (missing > 0) text.push(` ${plural(missing, "model")} not compared.`);
  return text;
}

function held(group: Group): Text {
  const at90 = group.calibration.find(({ nominal }) => Math.abs(nominal - 0.9) < 1e-6);
  return at90
    ? [
        ` Its stated 90\u00a0% regions held ${percent(at90.empirical)}\u00a0% of the flown positions.`,
      ]
    : [];
}

export function verdict(store: Store): HTMLElement {
  const { results, ranking } = store;
  const metric = leadMetric(results),
    best = ranking[0];
  const group = best && store.groupOf(best);
  const lead = metric && group?.metrics.get(metric.key);
  if (!metric || !best || !group || !lead || lead.value === null) {
    return h(
      "p",
      { class: "verdict" },
      `No model of this file has a value of ${metric?.name ?? "any metric"}.`,
    );
  }
  const decimals = decimalsFor([lead.value]);
  const range =
    lead.low === null
      ? "no interval"
      : `${level(results.protocol.interval.level)} interval ${interval(lead, decimals)}`;
  const claim =
    results.models.length === 1
      ? ` has ${metric.name} `
      : ` has the ${metric.lowerIsBetter === false ? "highest" : "lowest"} ${metric.name}: `;
  return h(
    "p",
    { class: "verdict" },
    h("strong", {}, nameOf(best.name)),
    claim,
    h("strong", {}, `${short(lead.value)}\u00a0${metric.unit}`),
    ` (${range}).`,
    ...paired(results, best, metric),
    ...held(group),
  );
}
