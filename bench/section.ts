// What a section is given and what it hands back: rows of figures, each beside its limits and its bar.
import type { Children } from "./children.ts";
import type { LargeStore } from "./large-store.ts";
import type { Limit } from "./limits.ts";
import { type Figure, figure, interleave, type Pace, type Round, ratio } from "./measure.ts";
import type { Draw } from "./saved.ts";

export const KiB = 1024;
export const MiB = 1024 * KiB;

export interface Section {
  readonly name: string;
  readonly description: string;
  run(context: Context): Promise<void>;
}

export interface Context {
  /** Empty at the start, and the section's own. */
  readonly directory: string;
  readonly pace: Pace;
  readonly quick: boolean;
  readonly minutes: number;
  /** Where programs of others are, by their names, as far as it was said. */
  readonly programs: Readonly<Record<string, string | undefined>>;
  /** How many objects the stores have that growth is measured on, from few to many. */
  readonly sizes: readonly number[];
  /** Where these stores are kept, when they are. */
  readonly stores: string | undefined;
  readonly children: Children;
  /** The large store, prepared once for all sections; undefined when this run does without it. */
  readonly largeStore: (() => Promise<LargeStore>) | undefined;
  row(row: Row): void;
  /** What the rows are drawn as; the lines for under it say where and how they were measured. */
  picture(draw: Draw): void;
  /** A line under the table. */
  note(text: string): void;
  progress(text: string): void;
}

export type Unit =
  | "op/s"
  | "MiB/s"
  | "page/s"
  | "ms"
  | "µs"
  | "MiB"
  | "KiB"
  | "B"
  | "pages"
  | "times"
  | "winners";

export interface Row {
  readonly what: string;
  readonly size?: number | undefined;
  readonly lanes?: number | undefined;
  readonly unit: Unit;
  readonly store: Figure;
  /** The same work by hand; the ratio is the store's figure to this one. */
  readonly limits: readonly RowLimit[];
  readonly bar?: Judged | undefined;
}

export interface RowLimit {
  readonly name: string;
  readonly figure: Figure;
  readonly ratio: number;
  readonly bar?: Judged | undefined;
}

export interface Judged {
  readonly text: string;
  readonly ok: boolean;
}

/** What a figure should reach: a number of its own unit, or a share of a limit. */
export type Bar =
  | { readonly atLeast: number; readonly of?: string }
  | { readonly atMost: number }
  | { readonly exactly: number };

export interface Comparison {
  readonly what: string;
  readonly size?: number | undefined;
  readonly lanes?: number | undefined;
  readonly unit: Unit;
  readonly round: Round;
  readonly limits: readonly Limit[];
  readonly bar?: Bar | undefined;
}

/** Measures the product and its limits in turn, and adds the row. Rates come in as operations per second. */
export async function compare(context: Context, comparison: Comparison): Promise<void> {
  const { what, size, lanes, unit, limits } = comparison;
  context.progress([what, size === undefined ? "" : sizeName(size), lanes ?? ""].join(" "));
  const scale = unit === "MiB/s" ? (size ?? 0) / MiB : 1;
  const scaled = (round: Round) => async () => (await round()) * scale;
  const figures = await interleave(
    context.pace.rounds,
    [comparison.round, ...limits.map((limit) => limit.round)].map(scaled),
  );
  context.row(makeRow({ what, size, lanes, unit, bar: comparison.bar }, figures, limits));
}

/** A row from figures that were measured already: the product's first, then those of the named limits. */
export function makeRow(
  row: Pick<Comparison, "what" | "size" | "lanes" | "unit" | "bar">,
  figures: readonly Figure[],
  limits: readonly Pick<Limit, "name" | "bar">[] = [],
): Row {
  const { bar, ...rest } = row;
  const store = figures[0] ?? figure([]);
  const beside = limits.map(({ name, bar }, index): RowLimit => {
    const limit = figures[index + 1] ?? figure([]);
    const share = ratio(store, limit);
    if (bar === undefined) return { name, figure: limit, ratio: share };
    return { name, figure: limit, ratio: share, bar: { text: `≥ ${bar}`, ok: share >= bar } };
  });
  const made = { ...rest, store, limits: beside };
  return bar === undefined ? made : { ...made, bar: judge(bar, made) };
}

function judge(bar: Bar, row: Row): Judged {
  const unit = row.unit === "times" ? "×" : row.unit === "winners" ? "" : ` ${row.unit}`;
  if ("exactly" in bar) {
    return { text: `= ${bar.exactly}${unit}`, ok: row.store.rounds.every((value) => value === bar.exactly) };
  }
  if ("atMost" in bar) {
    return { text: `≤ ${bar.atMost.toLocaleString("en")}${unit}`, ok: row.store.median <= bar.atMost };
  }
  if (bar.of === undefined) {
    return { text: `≥ ${bar.atLeast.toLocaleString("en")}${unit}`, ok: row.store.median >= bar.atLeast };
  }
  const share = row.limits.find((limit) => limit.name === bar.of)?.ratio ?? Number.NaN;
  return { text: `≥ ${bar.atLeast} of ${bar.of}`, ok: share >= bar.atLeast };
}

export function sizeName(bytes: number): string {
  if (bytes >= 1024 * MiB) return `${bytes / (1024 * MiB)} GiB`;
  if (bytes >= MiB) return `${bytes / MiB} MiB`;
  return bytes >= KiB ? `${bytes / KiB} KiB` : `${bytes} B`;
}

/** Small bodies are counted, large ones weighed. */
export function unitOf(size: number): Unit {
  return size >= MiB ? "MiB/s" : "op/s";
}

/** Whether a round of so many lanes stays within the bound; says so when it does not. */
export function withinBound(context: Context, size: number, lanes: number): boolean {
  if (size * lanes <= context.pace.bytes) return true;
  context.note(
    `${sizeName(size)} × ${lanes} is left out: a round would move ${sizeName(size * lanes)}, ` +
      `the bound is ${sizeName(context.pace.bytes)}.`,
  );
  return false;
}

export function random(below: number): number {
  return Math.floor(Math.random() * below);
}

/** What the product answered must be there: a benchmark of errors says nothing. */
export function present<T>(value: T | null | undefined, what: string): T {
  if (value === null || value === undefined) throw new Error(`Cannot measure: ${what} is missing`);
  return value;
}

export function sameCount(found: number, wanted: number, what: string): void {
  if (found !== wanted) throw new Error(`Cannot measure: ${found} ${what} instead of ${wanted}`);
}
