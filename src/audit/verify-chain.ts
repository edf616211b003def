// Verifies the hash chain of an audit log, line by line, and says which entries were changed,
// removed, inserted or moved. Needs the memory of a few lines, however long the log is.
import { createHash } from "node:crypto";
import { type ChainHead, type ParsedLine, parseLine, parseTrim, sha256 } from "./chain.ts";
import { type AuditLine, type ChainReport, createBreakList, describe, type Link } from "./chain-report.ts";

export interface VerifyOptions {
  /** The head that the last writer saved beside the log. */
  readonly savedHead?: ChainHead | undefined;
  /** Hashes noted earlier, which must still be in the chain. */
  readonly expected?: readonly string[] | undefined;
}

interface Item {
  readonly line: AuditLine;
  readonly parsed: ParsedLine;
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
  const list = createBreakList();
  const beforeChain = createPrefixHash();
  const missingHashes = new Set(expected);
  let entries = 0;
  let unchained = 0;
  let repaired = 0;
  /** All entries up to this number may be absent. */
  let trimmed = 0;
  let first: Link | undefined;
  let last: Link | undefined;

  /** Checks a line. The next line shows whether this one or the one before it is wrong. */
  function check({ line, parsed }: Item, next: Item | undefined): void {
    if (!line.isComplete) {
      list.addAt("torn", "the line is incomplete: a crash cut it. The next entry will record this.", line);
    } else if (parsed.kind === "chained") {
      entries++;
      const link = { ...toLink(parsed.entry), line };
      if (parsed.isIntact) {
        missingHashes.delete(link.hash);
        trimmed = Math.max(trimmed, parseTrim(parsed.entry) ?? 0);
      }
      last = parsed.isIntact ? checkLink(link, readLink(next)) : checkChanged(link, readLink(next));
      first ??= last;
    } else if (isRepairOf(next, line)) {
      repaired++;
    } else if (last === undefined) {
      beforeChain.add(line);
      if (parsed.kind === "unchained") unchained++;
    } else if (parsed.kind === "unchained") {
      const { time } = parsed.entry;
      list.addAt("inserted", `the entry of ${time} is not in the chain: it was inserted.`, line, { time });
    } else last = checkDamaged(line, last, readLink(next));
  }

  /** Checks an entry that matches its hash, and returns the entry that the next one follows. */
  function checkLink(link: Link, next: Link | undefined): Link {
    const previous = last;
    if (previous === undefined) {
      checkStart(link);
      return link;
    }
    if (link.seq === previous.seq + 1) {
      return link.previous === previous.hash ? link : checkOtherHash(link, previous, next);
    }
    if (!isAfter(next, previous) && link.seq > previous.seq) {
      list.addRemoved(previous, link);
      return link;
    }
    if (link.seq === previous.seq && next?.previous === link.hash) {
      list.addAt("inserted", `${describe(previous)} was inserted.`, previous.line, previous);
      return link;
    }
    list.addMisplaced(link);
    return previous;
  }

  /** The entry has the right number, but names another hash than the entry before it has. */
  function checkOtherHash(link: Link, previous: Link, next: Link | undefined): Link {
    if (isAfter(next, previous)) {
      list.addAt("inserted", `${describe(link)} was inserted.`, link.line, link);
      return previous;
    }
    const isLinkWrong = next?.seq === link.seq + 1 && next.previous !== link.hash;
    const wrong = isLinkWrong ? link : previous;
    const message = `${describe(wrong)} was changed: the next entry names another hash.`;
    list.addAt("changed", message, wrong.line, wrong);
    return isLinkWrong ? { ...link, hash: next.previous } : link;
  }

  /** The entry does not match its own hash. The next entry names the hash that it had. */
  function checkChanged(link: Link, next: Link | undefined): Link {
    if (last !== undefined && isAfter(next, last)) {
      list.addAt("inserted", `${describe(link)} was inserted: it does not match its hash.`, link.line, link);
      return last;
    }
    const seq = last === undefined ? link.seq : last.seq + 1;
    const isNext = next?.seq === seq + 1;
    const found = isNext ? { ...link, seq, hash: next.previous } : link;
    list.addAt("changed", `${describe(found)} was changed: it does not match its hash.`, link.line, found);
    return found;
  }

  function checkDamaged(line: AuditLine, previous: Link, next: Link | undefined): Link {
    if (next?.seq !== previous.seq + 2) {
      list.addAt("inserted", "the line is not an entry: it was inserted or damaged.", line);
      return previous;
    }
    const seq = previous.seq + 1;
    list.addAt("changed", `entry ${seq} was changed: it is not readable.`, line, { seq });
    return { seq, hash: next.previous, previous: previous.hash, line, time: previous.time };
  }

  function checkStart(link: Link): void {
    if (link.seq > 1 && unchained > 0) {
      const message = `${unchained} entries before ${describe(link)} are not in the chain: they were inserted.`;
      list.addAt("inserted", message, link.line, link);
    }
    if (link.seq > 1 || beforeChain.hash(link.line) === link.previous) return;
    list.addAt("changed", "the entries before the start of the chain were changed.", link.line, link);
  }

  /** Entries that were cut off the end are only known from the head that their writer saved. */
  function checkEnd(savedHead: ChainHead): void {
    const seq = last?.seq ?? 0;
    if (savedHead.seq > seq) {
      const after = last === undefined ? "" : `, after ${describe(last)}`;
      const message = `${formatRange(seq + 1, savedHead.seq)} missing at the end of the log${after}.`;
      list.add({ kind: "removed", message, seq: seq + 1 });
    } else if (last !== undefined && savedHead.seq === seq && savedHead.hash !== last.hash) {
      const message = `${describe(last)} was changed: it was written with another hash.`;
      list.addAt("changed", message, last.line, last);
    }
  }

  /** The log may start with a later entry if it was trimmed, or if it continues an archived file. */
  function checkBeginning({ seq, previous }: Link): void {
    const isContinued = missingHashes.delete(previous);
    if (seq - 1 <= trimmed || isContinued) return;
    const reason = "and no entry records that the log was trimmed";
    const message = `${formatRange(1, seq - 1)} missing at the start of the log, ${reason}.`;
    list.add({ kind: "removed", message, seq: 1 });
  }

  function finish(savedHead: ChainHead | undefined): ChainReport {
    if (savedHead !== undefined) checkEnd(savedHead);
    if (first !== undefined) checkBeginning(first);
    for (const hash of missingHashes) {
      const message = `The expected hash ${hash} is not in the chain: entries were removed or changed.`;
      list.add({ kind: "removed", message });
    }
    return {
      ...{ entries, unchained, repaired, waiting: 0, breaks: list.breaks, breakCount: list.count() },
      ...{ firstSeq: first?.seq, firstTime: first?.time, lastTime: last?.time },
      head: last && { seq: last.seq, hash: last.hash },
    };
  }

  return { check, finish };
}

/** Hashes the lines before the chain, of the file in which it starts. */
function createPrefixHash() {
  let hash = createHash("sha256");
  let file: string | undefined;
  return {
    add(line: AuditLine): void {
      if (file !== line.file) hash = createHash("sha256");
      file = line.file;
      hash.update(line.bytes).update("\n");
    },
    hash: (start: AuditLine): string => (file === start.file ? hash.digest("hex") : sha256("")),
  };
}

function formatRange(from: number, to: number): string {
  return from === to ? `Entry ${from} is` : `Entries ${from} to ${to} are`;
}

function isAfter(link: Link | undefined, previous: Link): boolean {
  return link?.seq === previous.seq + 1 && link.previous === previous.hash;
}

function toLink({ seq, hash, previous, time }: Omit<Link, "line">): Omit<Link, "line"> {
  return { seq, hash, previous, time };
}

function readLink(item: Item | undefined): Link | undefined {
  if (item?.parsed.kind !== "chained" || !item.parsed.isIntact) return undefined;
  return { ...toLink(item.parsed.entry), line: item.line };
}

/** Whether the entry records that a crash cut this line. */
function isRepairOf(item: Item | undefined, line: AuditLine): boolean {
  if (item?.parsed.kind !== "chained" || !item.parsed.isIntact) return false;
  const { act, detail } = item.parsed.entry;
  return act === "repair audit log" && detail === sha256(line.bytes);
}
