// Checks that each page of a list shows one instant: the engine reads a page in one transaction.
// Overlapping writes make values uncertain at times; a page is only compared with certain facts.
import type { Operation, State } from "./checker.ts";
import type { PageRead } from "./log.ts";
import { writtenBy } from "./zones.ts";

interface Span {
  readonly from: number;
  readonly to: number;
}

/** Facts about one key that are certain. */
interface Certain {
  /** Returns the longest time span in which the key can have held the value. */
  spanOf(value: string): Span;
  /** Times at which the key certainly existed. */
  readonly present: readonly Span[];
}

export function findTornPage(
  pages: readonly PageRead[],
  operations: ReadonlyMap<string, readonly Operation[]>,
): string | undefined {
  const certain = new Map([...operations].map(([key, history]) => [key, certainOf(history)]));
  const torn = pages.find((page) => !showsOneInstant(page, (key) => certain.get(key)!));
  return torn === undefined ? undefined : `A page shows no single instant: ${JSON.stringify(torn)}`;
}

function showsOneInstant({ begin, end, seen }: PageRead, of: (key: string) => Certain): boolean {
  let from = begin;
  let to = end;
  const impossible: Span[] = [];
  for (const [key, value] of Object.entries(seen)) {
    if (value === null) impossible.push(...of(key).present.filter((span) => overlap(span, { from, to })));
    else {
      const span = of(key).spanOf(value);
      from = Math.max(from, span.from);
      to = Math.min(to, span.to);
    }
  }
  // Find the first instant at which none of the absent keys certainly existed.
  let instant = from;
  for (;;) {
    const blocking = impossible.find((span) => span.from < instant && instant < span.to);
    if (blocking === undefined || instant > to) return instant <= to;
    instant = blocking.to;
  }
}

const overlap = (a: Span, b: Span) => a.from < b.to && b.from < a.to;

function certainOf(history: readonly Operation[]): Certain {
  const writes = history.filter(({ action }) => isWrite(action));
  const deletes = writes.filter(({ action }) => writtenBy(action) === null);
  const puts = new Map<State, Operation>();
  for (const write of writes) puts.set(writtenBy(write.action), write);
  puts.delete(null);
  return {
    spanOf(value) {
      const put = puts.get(value);
      if (put === undefined) return { from: 0, to: 0 };
      // A write that began after the put ended has certainly replaced the value by its own end.
      const later = writes.filter((write) => isCertain(write) && write.begin > put.end);
      return { from: put.begin, to: later.reduce((first, { end }) => Math.min(first, end), never) };
    },
    present: [...puts.values()].flatMap((put) => {
      if (!isCertain(put)) return [];
      const gone = deletes.filter(({ end }) => end >= put.begin);
      const span = { from: put.end, to: gone.reduce((first, { begin }) => Math.min(first, begin), never) };
      return span.from < span.to ? [span] : [];
    }),
  };
}

const never = Number.POSITIVE_INFINITY;

function isWrite(action: Operation["action"]): boolean {
  return action.kind === "write" || (action.kind !== "read" && action.outcome !== "refused");
}

/** Whether the write has ended and certainly took effect. */
function isCertain({ end }: Operation): boolean {
  return end !== never;
}
