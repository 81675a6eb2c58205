// SPDX-License-Identifier: BSD-3-Clause
// What the reader chose. Sections watch it and draw themselves again.
import { ranked, type Group, type Model, type Results } from "./results";

// More lines than this in one chart cannot be told apart; the rest waits in the legend.
const MAX_LINES = 10;

export class Store {
  group: string;
  model: Model; // the one whose coverage and PIT are shown
  hidden: Set<Model>;
  readonly ranking: Model[];
  private readonly watchers: (() => void)[] = [];

  constructor(
    readonly results: Results,
    first: Model,
  ) {
    this.group =
      (results.groups.find((group) => group.kind === "all") ?? results.groups[0])?.key ?? "";
    this.ranking = ranked(results);
    this.model = this.ranking[0] ?? first;
    this.hidden = new Set(this.best().hidden);
  }

  /** Calls `draw` now and after every change. */
  watch(draw: () => void): void {
    this.watchers.push(draw);
    draw();
  }
  change(what: Partial<Pick<Store, "group" | "model" | "hidden">>): void {
    Object.assign(this, what);
    for (const draw of this.watchers) draw();
  }

  groupOf(model: Model): Group | undefined {
    return model.groups.get(this.group);
  }
  shown(): Model[] {
    return this.ranking.filter((model) => !this.hidden.has(model));
  }
  best(): { count: number; hidden: Model[] } {
    return { count: MAX_LINES, hidden: this.ranking.slice(MAX_LINES) };
  }
}
