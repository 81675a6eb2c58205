// SPDX-License-Identifier: BSD-3-Clause
// What the reader chose. Sections watch it and draw themselves again.
import { ranked, type Group, type Line, type Model, type Results } from "./results";

// More lines than this in one chart cannot be told apart; the rest waits in the legend.
const MAX_LINES = 10;

/** Which lines are shown; `ranking` goes from the best to the worst. */
export class Lines<L extends Line> {
  hidden: Set<L>;
  private readonly watchers: (() => void)[] = [];

  constructor(readonly ranking: L[]) {
    this.hidden = new Set(this.best().hidden);
  }

  /** Calls `draw` now and after every change. */
  watch(draw: () => void): void {
    this.watchers.push(draw);
    draw();
  }
  hide(hidden: Iterable<L>): void {
    this.hidden = new Set(hidden);
    this.changed();
  }
  protected changed(): void {
    for (const draw of this.watchers) draw();
  }

  shown(): L[] {
    return this.ranking.filter((line) => !this.hidden.has(line));
  }
  best(): { count: number; hidden: L[] } {
    return { count: MAX_LINES, hidden: this.ranking.slice(MAX_LINES) };
  }
}

export class Store extends Lines<Model> {
  group: string;
  model: Model; // the one whose coverage and PIT are shown

  constructor(
    readonly results: Results,
    first: Model,
  ) {
    super(ranked(results));
    this.group =
      (results.groups.find((group) => group.kind === "all") ?? results.groups[0])?.key ?? "";
    this.model = this.ranking[0] ?? first;
  }

  change(what: Partial<Pick<Store, "group" | "model">>): void {
    Object.assign(this, what);
    this.changed();
  }
  groupOf(model: Model): Group | undefined {
    return model.groups.get(this.group);
  }
}
