// SPDX-License-Identifier: BSD-3-Clause
// Elements without markup strings: whatever comes from data becomes a text node or an attribute.

export type Child = Node | string | null;
type Value = string | number | boolean | null | ((event: Event) => void);

/** Makes an element; functions become listeners, null and false leave the attribute out. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, Value> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== null && value !== false) element.setAttribute(name, String(value));
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** A name out of a file, kept apart from the direction of the text around it. */
export function nameOf(text: string): HTMLElement {
  return h("bdi", { class: "name", title: text }, text);
}
