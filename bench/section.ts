// The context a section runs in and the rows it produces: each row compares Store with its limits.
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
  /** An empty directory for this section alone. */
  readonly directory: string;
  readonly pace: Pace;
  readonly quick: boolean;
  readonly minutes: number;
  /** Paths of other servers' programs by name, from the command line. */
  readonly programs: Readonly<Record<string, string | undefined>>;
  /** Folder of another build, from the command line. */
  readonly build: string | undefined;
  /** Object counts of the stores used by the growth section, in ascending order. */
  readonly sizes: readonly number[];
  /** Directory that keeps the stores of the growth section. Default: the stores are temporary. */
  readonly stores: string | undefined;
  readonly children: Children;
  /** Returns the large store, prepared on the first call. Quick runs may have no large store. */
  readonly largeStore: (() => Promise<LargeStore>) | undefined;
  row(row: Row): void;
  /** Sets how the rows are drawn. `draw` receives the footer: command, machine and date. */
  picture(draw: Draw): void;
  /** Adds a line under the table. */
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
  | "%"
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
  /** The same work without Store. Each ratio is Store's figure divided by the limit's figure. */
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

/** The target of a row: a number in the unit of the row, or a share of the limit named by `of`. */
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

/** Measures Store and its limits in alternating rounds and adds a row. Rounds return op/s. */
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

/** Makes a row. The first figure is Store's; the others belong to `limits`, in the same order. */
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

/** Small bodies are measured in operations per second, bodies from 1 MiB in MiB per second. */
export function unitOf(size: number): Unit {
  return size >= MiB ? "MiB/s" : "op/s";
}

/** Whether a round stays within the byte limit of this run. If not, adds a note. */
export function withinBound(context: Context, size: number, lanes: number): boolean {
  if (size * lanes <= context.pace.bytes) return true;
  context.note(
    `${sizeName(size)} × ${lanes} is skipped: a round would move ${sizeName(size * lanes)}, ` +
      `the limit is ${sizeName(context.pace.bytes)}.`,
  );
  return false;
}

export function random(below: number): number {
  return Math.floor(Math.random() * below);
}

/** Throws if a result is missing, so that a run never measures the rate of failures. */
export function present<T>(value: T | null | undefined, what: string): T {
  if (value === null || value === undefined) throw new Error(`Cannot measure: ${what} is missing`);
  return value;
}

export function sameCount(found: number, wanted: number, what: string): void {
  if (found !== wanted) throw new Error(`Cannot measure: ${found} ${what} instead of ${wanted}`);
}
