// SPDX-License-Identifier: BSD-3-Clause
import { h, nameOf, type Child } from "../common/dom";
import { swatch } from "./plots";
import type { Line } from "./results";
import type { Lines } from "./store";

export interface Option {
  value: string;
  label: string;
  section?: string;
}

/** A labelled <select>; consecutive options of one section share an <optgroup>. */
export function select(
  id: string,
  label: string,
  options: Option[],
  value: string,
  onChange: (value: string) => void,
): HTMLElement {
  const box = h("select", { id, change: () => onChange(box.value) });
  let parent: HTMLElement = box,
    section: string | undefined;
  for (const option of options) {
    if (option.section !== section) {
      section = option.section;
      parent = section === undefined ? box : h("optgroup", { label: section });
      if (parent !== box) box.append(parent);
    }
    parent.append(
      h("option", { value: option.value, selected: option.value === value }, option.label),
    );
  }
  return h("label", { class: "control" }, h("span", {}, label), box);
}

/** Two or three exclusive choices side by side. */
export function choice(
  name: string,
  label: string,
  options: Option[],
  value: string,
  onChange: (value: string) => void,
): HTMLElement {
  return h(
    "fieldset",
    { class: "control choice" },
    h("legend", {}, label),
    h(
      "span",
      {},
      ...options.map((option) =>
        h(
          "label",
          {},
          h("input", {
            type: "radio",
            name,
            value: option.value,
            checked: option.value === value,
            change: () => onChange(option.value),
          }),
          h("span", {}, option.label),
        ),
      ),
    ),
  );
}

export const scaleChoice = (
  name: string,
  onChange: (scale: "linear" | "log") => void,
): HTMLElement =>
  choice(
    name,
    "scale",
    [
      { value: "linear", label: "linear" },
      { value: "log", label: "log" },
    ],
    "linear",
    (value) => onChange(value === "log" ? "log" : "linear"),
  );

/** Which model has which line, and a switch for each; all charts of these lines follow. */
export function legend<L extends Line>(lines: Lines<L>): HTMLElement {
  const { ranking } = lines;
  const toggles = ranking.map((line) => {
    const button = h(
      "button",
      {
        type: "button",
        click: () => {
          const hidden = new Set(lines.hidden);
          if (!hidden.delete(line)) hidden.add(line);
          lines.hide(hidden);
        },
      },
      swatch(line.index),
      nameOf(line.name),
    );
    lines.watch(() => button.setAttribute("aria-pressed", String(!lines.hidden.has(line))));
    return button;
  });
  const { count, hidden } = lines.best();
  const shortcut = (text: string, hide: L[]) =>
    h("button", { type: "button", class: "plain", click: () => lines.hide(hide) }, text);
  const shortcuts: Child[] =
    ranking.length < 3
      ? []
      : [
          shortcut("all", []),
          hidden.length > 0 ? shortcut(`best ${count}`, hidden) : null,
          shortcut("none", ranking),
        ];
  return h(
    "div",
    { class: "legend", role: "group", "aria-label": "models shown in the charts" },
    shortcuts.length > 0 ? h("span", { class: "shortcuts" }, ...shortcuts) : null,
    ...toggles,
  );
}
