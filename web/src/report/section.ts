// SPDX-License-Identifier: BSD-3-Clause
import { h, nameOf, type Child } from "../common/dom";
import { DASH } from "./format";
import { swatch } from "./plots";
import type { Line, Maybe, Model } from "./results";

export function section(
  id: string,
  title: string,
  controls: Child[],
  ...body: Child[]
): HTMLElement {
  return h(
    "section",
    { id, "aria-labelledby": `${id}-title` },
    h("header", {}, h("h2", { id: `${id}-title` }, title), ...controls),
    ...body,
  );
}

export const note = (...children: Child[]): HTMLElement => h("p", { class: "note" }, ...children);

/** A wide table scrolls in its own box, by keyboard too. */
export function scrollBox(label: string, table: HTMLElement): HTMLElement {
  return h("div", { class: "scroll", role: "region", tabindex: 0, "aria-label": label }, table);
}

/** Headings of text columns and, after a leading "#", of number columns. */
export const columns = (...names: string[]): HTMLElement =>
  h(
    "thead",
    {},
    h(
      "tr",
      {},
      ...names.map((name) =>
        h(
          "th",
          { scope: "col", class: name.startsWith("#") ? "number" : null },
          name.replace(/^#/, ""),
        ),
      ),
    ),
  );

export const lineHeading = (line: Line, title = ""): HTMLElement =>
  h(
    "th",
    { scope: "row", title: title || null },
    h("span", { class: "model" }, swatch(line.index), nameOf(line.name)),
  );
export const modelHeading = (model: Model): HTMLElement => lineHeading(model, model.description);

export interface Origin {
  metric: string;
  model: string;
  group: string;
  [more: string]: string;
}

/** A cell whose attributes say exactly which number of the file it shows. */
export function numberCell(
  value: Maybe,
  text: string,
  origin: Origin,
  ...more: Child[]
): HTMLTableCellElement {
  const attributes = Object.fromEntries(
    Object.entries(origin).map(([key, v]) => [`data-${key}`, v]),
  );
  return h(
    "td",
    { class: "number", "data-value": JSON.stringify(value), ...attributes },
    h("span", { class: value === null ? "absent" : "value" }, value === null ? DASH : text),
    ...more,
  );
}
