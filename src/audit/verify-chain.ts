// Verifies the hash chain of an audit log, line by line, and says which entries were changed,
// removed, inserted or moved. Needs the memory of a few lines, however long the log is.
import { createHash } from "node:crypto";
import type { AuditEntry } from "./audit-log.ts";
import { type ChainHead, type ParsedLine, parseLine, parseTrim, sha256 } from "./chain.ts";

export interface AuditLine {
  readonly bytes: Uint8Array;
  /** The name of the line's file, or of the place where documents are stored. */
  readonly file: string;
  /** Number of the line in its file, from 1. */
  readonly number: number;
  /** Whether a line break ends the line. Without one, a crash cut it. */
  readonly isComplete: boolean;
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
  /** At most `maxBreaks`; `breakCount` has their number. */
  readonly breaks: readonly ChainBreak[];
  readonly breakCount: number;
}

export interface VerifyOptions {
  /** The head that the last writer saved beside the log. */
  readonly savedHead?: ChainHead | undefined;
  /** Hashes noted earlier, which must still be in the chain. */
  readonly expected?: readonly string[] | undefined;
}

const maxBreaks = 100;
/** Removed and misplaced entries that are remembered, to recognize entries that were moved. */
const maxRemembered = 1000;

interface Item {
  readonly line: AuditLine;
  readonly parsed: ParsedLine;
}

/** An entry with its location; its hash is the one that the next entry must name. */
interface Link extends ChainHead {
  readonly previous: string;
  readonly line: AuditLine;
  readonly time: string;
}

export async function verifyChain(
  lines: AsyncIterable<AuditLine>,
  { savedHead, expected = [] }: VerifyOptions,
): Promise<ChainReport> {
  const verifier = createVerifier(expected);
  let current: Item | undefined;
  for await (const line of lines) {
    const next = { line, parsed: parseLine(line.bytes) };
    if (current !== undefined) verifier.check(current, next);
    current = next;
  }
  if (current !== undefined) verifier.check(current, undefined);
  return verifier.finish(savedHead);
}

function createVerifier(expected: readonly string[]) {
  const breaks: ChainBreak[] = [];
  const missingHashes = new Set(expected);
  /** Removed entries by number, and misplaced entries by number: a moved entry is in both. */
  const removed = new Map<number, ChainBreak>();
  const misplaced = new Map<number, { readonly hash: string; readonly index: number }>();
  let breakCount = 0;
  let entries = 0;
  let unchained = 0;
  let repaired = 0;
  let trimmed = 0;
  let first: Link | undefined;
  let last: Link | undefined;
  let beforeChain = createHash("sha256");
  let beforeChainFile: string | undefined;

  function addBreak(found: ChainBreak): number {
    breakCount++;
    return breaks.length < maxBreaks ? breaks.push(found) - 1 : -1;
  }

  function breakAt(kind: ChainBreak["kind"], message: string, at: AuditLine, entry?: Partial<Link>): number {
    return addBreak({
      ...{ kind, message: `${at.file} line ${at.number}: ${message}` },
      ...{ file: at.file, line: at.number, seq: entry?.seq, time: entry?.time },
    });
  }

  function check({ line, parsed }: Item, next: Item | undefined): void {
    if (!line.isComplete) {
      breakAt("torn", "the line is incomplete: a crash cut it. The next entry will record this.", line);
    } else if (parsed.kind === "chained") {
      checkChained(line, { ...linkOf(parsed.entry), line }, parsed, linkIn(next));
    } else if (last === undefined && !isRepairOf(next, line)) {
      if (beforeChainFile !== line.file) beforeChain = createHash("sha256");
      beforeChainFile = line.file;
      beforeChain.update(line.bytes).update("\n");
      if (parsed.kind === "unchained") unchained++;
    } else if (parsed.kind === "unchained") {
      const { time } = parsed.entry;
      breakAt("inserted", `the entry of ${time} is not in the chain: it was inserted.`, line, { time });
    } else checkDamaged(line, next);
  }

  function checkDamaged(line: AuditLine, next: Item | undefined): void {
    if (isRepairOf(next, line)) {
      repaired++;
      return;
    }
    const following = linkIn(next);
    if (last === undefined || following?.seq !== last.seq + 2) {
      breakAt("inserted", "the line is not an entry: it was inserted or damaged.", line);
      return;
    }
    const seq = last.seq + 1;
    breakAt("changed", `entry ${seq} was changed: it is not readable.`, line, { seq });
    last = { seq, hash: following.previous, previous: last.hash, line, time: last.time };
  }

  function checkChained(
    line: AuditLine,
    link: Link,
    { entry, isIntact }: { readonly entry: AuditEntry; readonly isIntact: boolean },
    next: Link | undefined,
  ): void {
    entries++;
    if (isIntact) {
      missingHashes.delete(link.hash);
      trimmed = Math.max(trimmed, parseTrim(entry) ?? 0);
    }
    const previous = last;
    if (!isIntact) {
      last = checkChanged(link, previous, next);
    } else if (previous === undefined) {
      checkStart(link);
      last = link;
    } else if (link.seq === previous.seq + 1) {
      last = link.previous === previous.hash ? link : checkOtherHash(link, previous, next);
    } else if (next?.seq === previous.seq + 1 && next.previous === previous.hash) {
      reportMisplaced(link);
    } else if (link.seq > previous.seq) {
      reportRemoved(link, previous);
      last = link;
    } else if (link.seq === previous.seq && next?.previous === link.hash) {
      breakAt("inserted", `${describe(previous)} was inserted.`, previous.line, previous);
      last = link;
    } else reportMisplaced(link);
    first ??= last;
    void line;
  }

  /** The entry does not match its own hash. The next entry shows which hash it had. */
  function checkChanged(link: Link, previous: Link | undefined, next: Link | undefined): Link | undefined {
    const seq = (previous?.seq ?? link.seq - 1) + 1;
    if (previous !== undefined && next?.seq === seq && next.previous === previous.hash) {
      breakAt("inserted", `${describe(link)} was inserted: it does not match its hash.`, link.line, link);
      return previous;
    }
    const isNext = next?.seq === seq + 1;
    const found = { ...link, seq: isNext ? seq : link.seq };
    breakAt("changed", `${describe(found)} was changed: it does not match its hash.`, link.line, found);
    return isNext ? { ...found, hash: next.previous } : found;
  }

  /** The entry has the right number, but names another hash than the entry before it has. */
  function checkOtherHash(link: Link, previous: Link, next: Link | undefined): Link {
    if (next?.seq === link.seq && next.previous === previous.hash) {
      breakAt("inserted", `${describe(link)} was inserted.`, link.line, link);
      return previous;
    }
    if (next?.seq === link.seq + 1 && next.previous !== link.hash) {
      breakAt(
        "changed",
        `${describe(link)} was changed: the next entry names another hash.`,
        link.line,
        link,
      );
      return { ...link, hash: next.previous };
    }
    const message = `${describe(previous)} was changed: the next entry names another hash.`;
    breakAt("changed", message, previous.line, previous);
    return link;
  }

  function checkStart(link: Link): void {
    if (link.seq > 1) {
      if (unchained > 0) {
        const message = `${unchained} entries before ${describe(link)} are not in the chain: they were inserted.`;
        breakAt("inserted", message, link.line, link);
      }
      return;
    }
    const hash = beforeChainFile === link.line.file ? beforeChain.digest("hex") : sha256("");
    if (hash === link.previous) return;
    breakAt("changed", "the entries before the start of the chain were changed.", link.line, link);
  }

  function reportMisplaced(link: Link): void {
    const gap = removed.get(link.seq);
    if (gap !== undefined) {
      removed.delete(link.seq);
      const index = breaks.indexOf(gap);
      if (index !== -1) breaks[index] = movedBreak(link);
      return;
    }
    const index = breakAt("inserted", `${describe(link)} was inserted.`, link.line, link);
    if (misplaced.size < maxRemembered && !misplaced.has(link.seq))
      misplaced.set(link.seq, { hash: link.hash, index });
  }

  function reportRemoved(link: Link, previous: Link): void {
    const from = previous.seq + 1;
    const to = link.seq - 1;
    const candidate = from === to ? misplaced.get(from) : undefined;
    if (candidate?.hash === link.previous && candidate.index !== -1) {
      const found = breaks[candidate.index]!;
      breaks[candidate.index] = {
        ...found,
        kind: "moved",
        message: found.message.replace(/inserted\.$/, `moved: its place is before ${describe(link)}.`),
      };
      misplaced.delete(from);
      return;
    }
    const which = from === to ? `entry ${from} was` : `entries ${from} to ${to} were`;
    const index = breakAt(
      "removed",
      `${which} removed between ${describe(previous)} and ${describe(link)}.`,
      link.line,
      { seq: from, time: link.time },
    );
    if (from === to && index !== -1 && removed.size < maxRemembered) removed.set(from, breaks[index]!);
  }

  function finish(savedHead: ChainHead | undefined): ChainReport {
    const end = last;
    if (savedHead !== undefined && savedHead.seq > (end?.seq ?? 0)) {
      const from = (end?.seq ?? 0) + 1;
      const which = from === savedHead.seq ? `Entry ${from} is` : `Entries ${from} to ${savedHead.seq} are`;
      const after = end === undefined ? "" : `, after ${describe(end)}`;
      addBreak({ kind: "removed", message: `${which} missing at the end of the log${after}.`, seq: from });
    } else if (savedHead !== undefined && savedHead.seq === end?.seq && savedHead.hash !== end.hash) {
      const message = `${describe(end)} was changed: it was written with another hash.`;
      breakAt("changed", message, end.line, end);
    }
    // A hash of the entry before the first proves that the log continues an archived file.
    const isContinued = first !== undefined && expected.includes(first.previous);
    if (isContinued) missingHashes.delete(first!.previous);
    if (first !== undefined && first.seq > 1 && trimmed < first.seq - 1 && !isContinued) {
      const which = first.seq === 2 ? "Entry 1 is" : `Entries 1 to ${first.seq - 1} are`;
      const message = `${which} missing at the start of the log, and no entry records that it was trimmed.`;
      addBreak({ kind: "removed", message, seq: 1 });
    }
    for (const hash of missingHashes) {
      const message = `The expected hash ${hash} is not in the chain: entries were removed or changed.`;
      addBreak({ kind: "removed", message });
    }
    return {
      ...{ entries, unchained, repaired, breaks, breakCount },
      ...{ firstSeq: first?.seq, firstTime: first?.time, lastTime: end?.time },
      head: end && { seq: end.seq, hash: end.hash },
    };
  }

  return { check, finish };
}

function movedBreak(link: Link): ChainBreak {
  const { file, number } = link.line;
  const message = `${file} line ${number}: ${describe(link)} was moved from its place to the end of later entries.`;
  return { kind: "moved", message, file, line: number, seq: link.seq, time: link.time };
}

function describe({ seq, time }: Pick<Link, "seq" | "time">): string {
  return `entry ${seq} of ${time}`;
}

function linkOf({ seq, hash, previous, time }: Omit<Link, "line">): Omit<Link, "line"> {
  return { seq, hash, previous, time };
}

function linkIn(item: Item | undefined): Link | undefined {
  if (item?.parsed.kind !== "chained" || !item.parsed.isIntact) return undefined;
  return { ...linkOf(item.parsed.entry), line: item.line };
}

/** Whether the entry records that a crash cut this line. */
function isRepairOf(item: Item | undefined, line: AuditLine): boolean {
  if (item?.parsed.kind !== "chained" || !item.parsed.isIntact) return false;
  const { act, detail } = item.parsed.entry;
  return act === "repair audit log" && detail === sha256(line.bytes);
}
