// SPDX-License-Identifier: BSD-3-Clause
import "../common/theme.css";
import "./style.css";
import { h, nameOf } from "../common/dom";
import { calibrationSection } from "./calibration";
import { categoriesSection } from "./categories";
import { comparisonSection } from "./comparison";
import { select } from "./controls";
import { examplesSection } from "./examples";
import { groupLabel, kindNames, plural } from "./format";
import { horizonSection } from "./horizon";
import { metricsTable } from "./metrics_table";
import { definitionsSection, protocolSection } from "./protocol";
import { readResults, type Protocol, type Results } from "./results";
import { Store } from "./store";
import { trainingSection } from "./training";
import { verdict } from "./verdict";

function heading({ corpus, split, side, windows, flights }: Protocol): HTMLElement {
  const which = side === "all" || side === "" ? "all flights" : `${side} side`;
  return h(
    "header",
    { class: "top" },
    h("p", { class: "brand" }, "AeroCast evaluation"),
    h("h1", {}, nameOf(corpus.name || "unnamed corpus"), h("span", { class: "side" }, ` ${which}`)),
    h(
      "p",
      { class: "facts" },
      `${split && split !== "none" ? `Split by ${split}` : "No split"} · ` +
        `${plural(windows, "window")} · ${plural(flights, "flight")}`,
    ),
  );
}

function toolbar(store: Store, sections: HTMLElement[]): HTMLElement {
  const options = store.results.groups.map((group) => ({
    value: group.key,
    label:
      group.kind === "all" || group.kind === "category_average" ? groupLabel(group) : group.name,
    ...(group.kind === "all" || group.kind === "category_average"
      ? {}
      : { section: kindNames[group.kind] ?? group.kind }),
  }));
  return h(
    "nav",
    { class: "toolbar", "aria-label": "report" },
    select("group", "windows", options, store.group, (group) => store.change({ group })),
    h(
      "ul",
      {},
      ...sections.map((section) =>
        h("li", {}, h("a", { href: `#${section.id}` }, section.querySelector("h2")!.textContent)),
      ),
    ),
  );
}

function report(results: Results): HTMLElement[] {
  const first = results.models[0];
  if (!first) {
    return [
      heading(results.protocol),
      h(
        "main",
        {},
        h("p", { class: "verdict" }, "The embedded results hold no model."),
        protocolSection(results),
      ),
    ];
  }
  const store = new Store(results, first);
  const sections = [
    metricsTable(store),
    horizonSection(store),
    categoriesSection(store),
    calibrationSection(store),
    examplesSection(store),
    comparisonSection(results),
    trainingSection(results),
    protocolSection(results),
    definitionsSection(results),
  ].filter((each) => each !== null);
  const top = heading(results.protocol);
  top.append(verdict(store));
  return [top, toolbar(store, sections), h("main", {}, ...sections)];
}

function message(...text: (Node | string)[]): HTMLElement[] {
  return [h("main", { class: "message" }, h("h1", {}, "AeroCast evaluation"), h("p", {}, ...text))];
}

function page(): HTMLElement[] {
  let results: Results | null;
  try {
    results = readResults(document.getElementById("aerocast-results")?.textContent ?? "null");
  } catch (error) {
    return message(
      `The embedded results cannot be read: ${error instanceof Error ? error.message : String(error)}.`,
    );
  }
  if (results === null) {
    return message(
      "No results are embedded in this page; make a report with ",
      h("code", {}, "aerocast evaluate … --report FILE.html"),
      ".",
    );
  }
  document.title = `${results.protocol.corpus.name} · AeroCast evaluation`;
  return report(results);
}

document.getElementById("page")!.replaceChildren(...page());
