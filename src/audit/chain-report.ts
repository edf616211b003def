// The report of verifying an audit log: what was read, and where the chain is broken.
import type { ChainHead } from "./chain.ts";

export interface AuditLine {
  readonly bytes: Uint8Array;
  /** The name of the line's file, or of the kind of its document. */
  readonly file: string;
  /** Number of the line in its file, from 1. */
  readonly number: number;
  /** Whether a line break ends the line. Without one, a crash cut it. */
  readonly isComplete: boolean;
}

/** An entry with its location. Its hash is the one that the next entry must name. */
export interface Link extends ChainHead {
  readonly previous: string;
  readonly line: AuditLine;
  readonly time: string;
}

export interface ChainBreak {
  readonly kind: "changed" | "removed" | "inserted" | "moved" | "torn";
  /** What happened to which entry, in one sentence. */
  readonly message: string;
  readonly file?: string | undefined;
  readonly line?: number | undefined;
  readonly seq?: number | undefined;
  readonly time?: string | undefined;
}

export interface ChainReport {
  /** Number of entries in the chain. */
  readonly entries: number;
  /** Number of entries before the chain, written by versions without one. */
  readonly unchained: number;
  readonly firstSeq: number | undefined;
  readonly firstTime: string | undefined;
  readonly lastTime: string | undefined;
  readonly head: ChainHead | undefined;
  /** Lines cut by a crash that a later entry of the chain names. */
  readonly repaired: number;
  /** Entries that are durable but not yet in the chain, because a blocked process holds the lock. */
  readonly waiting: number;
  /** At most `maxBreaks`; `breakCount` has their number. */
  readonly breaks: readonly ChainBreak[];
  readonly breakCount: number;
}

export interface BreakList {
  readonly breaks: readonly ChainBreak[];
  count(): number;
  add(found: ChainBreak): void;
  addAt(kind: ChainBreak["kind"], message: string, line: AuditLine, entry?: Partial<Link>): void;
  /** The entry is not where the chain continues: it was inserted, or moved from a gap. */
  addMisplaced(link: Link): void;
  /** The entries between the two are missing, unless the missing one was found elsewhere. */
  addRemoved(previous: Link, link: Link): void;
}

const maxBreaks = 100;

export function createBreakList(): BreakList {
  const breaks: ChainBreak[] = [];
  /** Breaks by the number of an entry: a moved entry is missing in one place and found in another. */
  const removed = new Map<number, ChainBreak>();
  const misplaced = new Map<number, { readonly link: Link; readonly found: ChainBreak }>();
  let count = 0;

  function add(found: ChainBreak): void {
    count++;
    if (breaks.length < maxBreaks) breaks.push(found);
  }

  function replace(found: ChainBreak, link: Link): void {
    const index = breaks.indexOf(found);
    if (index !== -1)
      breaks[index] = createBreak("moved", `${describe(link)} was moved here.`, link.line, link);
  }

  function addMisplaced(link: Link): void {
    const gap = removed.get(link.seq);
    if (gap !== undefined) {
      removed.delete(link.seq);
      replace(gap, link);
      return;
    }
    const found = createBreak("inserted", `${describe(link)} was inserted.`, link.line, link);
    add(found);
    if (misplaced.size < maxBreaks) misplaced.set(link.seq, { link, found });
  }

  function addRemoved(previous: Link, link: Link): void {
    const from = previous.seq + 1;
    const to = link.seq - 1;
    const candidate = from === to ? misplaced.get(from) : undefined;
    if (candidate?.link.hash === link.previous) {
      misplaced.delete(from);
      replace(candidate.found, candidate.link);
      return;
    }
    const which = from === to ? `entry ${from} was` : `entries ${from} to ${to} were`;
    const message = `${which} removed between ${describe(previous)} and ${describe(link)}.`;
    const found = createBreak("removed", message, link.line, { seq: from, time: link.time });
    add(found);
    if (from === to && removed.size < maxBreaks) removed.set(from, found);
  }

  return {
    ...{ breaks, add, addMisplaced, addRemoved },
    count: () => count,
    addAt: (kind, message, line, entry) => add(createBreak(kind, message, line, entry)),
  };
}

function createBreak(
  kind: ChainBreak["kind"],
  message: string,
  { file, number }: AuditLine,
  entry?: Partial<Link>,
): ChainBreak {
  const location = { file, line: number, seq: entry?.seq, time: entry?.time };
  return { kind, message: `${file} line ${number}: ${message}`, ...location };
}

export function describe({ seq, time }: Pick<Link, "seq" | "time">): string {
  return `entry ${seq} of ${time}`;
}
