// SPDX-License-Identifier: BSD-3-Clause
import type { Estimate, Maybe } from "./results";

export const DASH = "–";
const MINUS = "−";

const signed = (text: string) => text.replace(/^-/, MINUS).replace(/e-/, `e${MINUS}`);

/** Decimals that show three figures of the smallest of `values`, and so align a column. */
export function decimalsFor(values: Maybe[]): number {
  const sizes = values.filter((v): v is number => v !== null && v !== 0).map(Math.abs);
  if (sizes.length === 0) return 2;
  return Math.min(4, Math.max(0, 2 - Math.floor(Math.log10(Math.min(...sizes)))));
}

export function fixed(value: Maybe, decimals: number): string {
  if (value === null) return DASH;
  const size = Math.abs(value);
  const tooSmall = size > 0 && size < 0.5 * 10 ** -decimals;
  return signed(tooSmall || size >= 1e6 ? value.toExponential(2) : value.toFixed(decimals));
}

/** Three significant figures, for numbers inside sentences. */
export const short = (value: Maybe): string => fixed(value, decimalsFor([value]));
export const count = (value: Maybe): string => (value === null ? DASH : value.toLocaleString("en"));
export const percent = (share: Maybe, decimals = 1): string =>
  share === null ? DASH : signed((100 * share).toFixed(decimals));
/** A level such as 0.95 as "95 %": never broken over two lines, never 95.00000000000001. */
export const level = (share: number): string => `${Number((100 * share).toPrecision(6))}\u00a0%`;
export const plural = (n: Maybe, word: string): string =>
  `${count(n)} ${word}${n === 1 ? "" : "s"}`;

export function interval({ low, high }: Pick<Estimate, "low" | "high">, decimals: number): string {
  return low === null || high === null
    ? DASH
    : `${fixed(low, decimals)} … ${fixed(high, decimals)}`;
}

export const kindNames: Record<string, string> = {
  all: "All",
  category_average: "Average",
  category: "Category",
  source: "Source",
  group: "Group",
};
export const groupLabel = (group: { kind: string; name: string }): string =>
  group.kind === "all" || group.kind === "category_average"
    ? group.name || kindNames[group.kind]!
    : `${(kindNames[group.kind] ?? group.kind).toLowerCase()} ${group.name}`;

export function joined(words: (Node | string)[]): (Node | string)[] {
  return words.flatMap((word, i) =>
    i === 0 ? [word] : [i === words.length - 1 ? " and " : ", ", word],
  );
}

export function truncated(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`;
}
