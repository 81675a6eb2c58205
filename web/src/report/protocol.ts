// SPDX-License-Identifier: BSD-3-Clause
// What another person needs to get the same numbers, and what the numbers mean.
import { h, nameOf, type Child } from "../common/dom";
import { count, DASH, level, plural, short } from "./format";
import type { Maybe, Model, Results } from "./results";
import { columns, modelHeading, numberCell, scrollBox, section } from "./section";

const hash = (text: string): Child => (text ? h("code", {}, text) : DASH);
const plain = (value: Maybe): string => (value === null ? DASH : String(value));

function entries(results: Results): [string, Child][] {
  const { protocol: p } = results;
  const { window: w, interval: i } = p;
  return [
    [
      "Corpus",
      h(
        "span",
        {},
        nameOf(p.corpus.name),
        `, ${plural(p.corpus.flights, "flight")}` +
          (p.corpus.minZ === null ? "" : `, airborne above z = ${p.corpus.minZ} m`),
      ),
    ],
    ["Corpus hash", hash(p.corpus.hash)],
    ["Split", `${p.split || DASH}, side ${p.side || DASH}`],
    ["Split hash", hash(p.splitHash)],
    ["Evaluated", `${plural(p.windows, "window")} of ${plural(p.flights, "flight")}`],
    [
      "Window",
      `history ${plain(w.history)} s (at least ${plain(w.minHistory)} s), horizon ${plain(w.horizon)} s, ` +
        `step ${plain(w.dt)} s, stride ${plain(w.stride)}, gaps up to ${plain(w.maxGap)} s`,
    ],
    ["Disturbance", p.disturbance || "none"],
    ["Draws", `${plain(p.draws)} per step, ${plain(p.pathSamples)} joint paths`],
    ["Seed", plain(p.seed)],
    [
      "Intervals",
      `${level(i.level)} bootstrap, ${count(i.replicates)} replicates over ${plural(i.clusters, "cluster")} (by ${i.cluster})`,
    ],
    ["Program", results.program || DASH],
  ];
}

function modelRow(model: Model, flags: string[]): HTMLElement {
  const origin = { model: model.name, group: "" };
  return h(
    "tr",
    {},
    modelHeading(model),
    h("td", { class: "text" }, model.description || DASH),
    h("td", {}, model.fittedOn || DASH),
    ...flags.map((flag) =>
      numberCell(model.quality.get(flag) ?? null, count(model.quality.get(flag) ?? null), {
        ...origin,
        metric: `quality.${flag}`,
      }),
    ),
    numberCell(model.seconds, short(model.seconds), { ...origin, metric: "seconds" }),
    h("td", { class: "fingerprint" }, hash(model.fingerprint)),
  );
}

export function protocolSection(results: Results): HTMLElement {
  const flags = [...new Set(results.models.flatMap((model) => [...model.quality.keys()]))];
  const table = h(
    "table",
    { id: "models-table" },
    columns(
      "Model",
      "Description",
      "Fitted on",
      ...flags.map((flag) => `#${flag.replaceAll("_", " ")}`),
      "#Seconds",
      "Fingerprint",
    ),
    h("tbody", {}, ...results.models.map((model) => modelRow(model, flags))),
  );
  return section(
    "protocol",
    "Protocol",
    [],
    h(
      "dl",
      { class: "protocol" },
      ...entries(results).map(([term, detail]) =>
        h("div", {}, h("dt", {}, term), h("dd", {}, detail)),
      ),
    ),
    h("h3", {}, "Models"),
    scrollBox("models and the quality flags of their forecasts", table),
    h(
      "p",
      { class: "note" },
      "Counts: forecasts by quality flag. Seconds: wall clock of the evaluation, for orientation only.",
    ),
  );
}

export function definitionsSection(results: Results): HTMLElement {
  return section(
    "definitions",
    "Definitions",
    [],
    h(
      "dl",
      { class: "definitions" },
      ...results.metrics.map((metric) =>
        h(
          "div",
          {},
          h(
            "dt",
            {},
            metric.name,
            h(
              "small",
              {},
              [
                metric.unit,
                metric.space,
                metric.of,
                metric.lowerIsBetter === null
                  ? ""
                  : metric.lowerIsBetter
                    ? "lower is better"
                    : "higher is better",
              ]
                .filter((part) => part !== "")
                .join(" · "),
            ),
          ),
          h("dd", {}, metric.meaning || DASH),
        ),
      ),
    ),
  );
}
