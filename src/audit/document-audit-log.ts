// The audit log of a store without a directory: one document per entry, named by its number. A
// document is created only if it does not exist, so servers append to one chain. Documents of the
// kind "act" are entries of versions without a chain; their names start with the time.
import { Buffer } from "node:buffer";
import { setTimeout as pause } from "node:timers/promises";
import type { Document, Documents } from "../engine/records.ts";
import { isCount, isFields, isText } from "../model/shape.ts";
import { parseDocument } from "../model/stored-document.ts";
import { type AuditEntry, type AuditLog, defaultLogBytes, type LoggedEntry } from "./audit-log.ts";
import { type ChainHead, formatTrim, parseLine, sealEntry, sha256 } from "./chain.ts";
import type { AuditLine } from "./chain-report.ts";
import { verifyChain } from "./verify-chain.ts";

const headName = "head";
/** Documents that are read concurrently, and the number that one trim removes. */
const readConcurrency = 32;
const trimCount = 256;
const maxAttempts = 200;

/** The last entry that a writer has seen; others may have appended more. */
interface LogState extends ChainHead {
  /** Number of the oldest entry. */
  readonly first: number;
  readonly bytes: number;
  readonly maxBytes: number;
}

export function createDocumentAuditLog(documents: Documents): AuditLog {
  let queue: Promise<unknown> = Promise.resolve();

  /** Runs one append at a time: those of this process would only conflict with each other. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const run = queue.then(work);
    queue = run.catch(() => {});
    return run;
  }

  return {
    record: (entry) =>
      inTurn(async () => {
        const state = await appendEntry(documents, entry);
        if (state.bytes > state.maxBytes) await trim(documents, state, entry.time);
      }),
    read: (after) => readEntries(documents, after),
    async verify(expected) {
      for (let attempt = 1; ; attempt++) {
        const state = (await readState(documents))?.state;
        const savedHead = state && { seq: state.seq, hash: state.hash };
        const report = await verifyChain(readLines(documents, state), { savedHead, expected });
        if (report.breakCount === 0 || attempt === 3) return report;
        // Another server may have trimmed the log meanwhile: read it again.
        if ((await readState(documents))?.state.first === state?.first) return report;
      }
    },
    limit: (maxBytes) =>
      inTurn(() => changeState(documents, (state) => ({ ...state, maxBytes }), maxAttempts)),
  };
}

async function readState(
  documents: Documents,
): Promise<{ readonly state: LogState; readonly revision: number } | undefined> {
  const document = await documents.get("audit head", headName);
  return document && { state: parseState(document.text), revision: document.revision };
}

function parseState(text: string): LogState {
  return parseDocument(text, "The head of the audit log", (value): value is LogState => {
    if (!isFields(value)) return false;
    const { seq, hash, first, bytes, maxBytes } = value;
    return isText(hash, 64) && [seq, first, bytes, maxBytes].every(isCount);
  });
}

/** Without a saved state, the chain starts after the entries of earlier versions. */
async function startState(documents: Documents): Promise<LogState> {
  const texts = (await documents.list("act")).map(({ text }) => `${text}\n`);
  const start = { seq: 0, hash: sha256(texts.join("")), first: 1, bytes: 0, maxBytes: defaultLogBytes };
  const present = await documents.list("audit");
  if (present.length === 0) return start;
  // The saved state was lost: continue after the last entry.
  const last = present.at(-1)!;
  const bytes = present.reduce((sum, { text }) => sum + text.length, 0);
  return { ...start, ...documentHead(last), first: Number(present[0]!.name), bytes };
}

function documentHead({ name, text }: Document): ChainHead {
  const parsed = parseLine(Buffer.from(text));
  // A damaged entry keeps its number. The verification reports it.
  return { seq: Number(name), hash: parsed.kind === "chained" ? parsed.entry.hash : sha256(text) };
}

async function appendEntry(documents: Documents, entry: AuditEntry): Promise<LogState> {
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const saved = await readState(documents);
    const state = await advance(documents, saved?.state ?? (await startState(documents)));
    const { line, head } = sealEntry(entry, state);
    const outcome = await documents.put("audit", entryName(head.seq), line, undefined);
    if (outcome === "conflict") {
      await pause(Math.random() * 10);
      continue;
    }
    const next = { ...state, ...head, bytes: state.bytes + line.length };
    // After a conflict, another server saved an older or newer state; both are advanced from there.
    await documents.put("audit head", headName, JSON.stringify(next), saved?.revision);
    return next;
  }
  throw new Error("other servers are writing to the audit log all the time");
}

/** Returns the state after the entries that others appended since it was saved. */
async function advance(documents: Documents, state: LogState): Promise<LogState> {
  for (let current = state; ; ) {
    const document = await documents.get("audit", entryName(current.seq + 1));
    if (document === undefined) return current;
    current = { ...current, ...documentHead(document), bytes: current.bytes + document.text.length };
  }
}

async function changeState(
  documents: Documents,
  change: (state: LogState) => LogState,
  attempts: number,
): Promise<void> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const saved = await readState(documents);
    const next = change(saved?.state ?? (await startState(documents)));
    const outcome = await documents.put("audit head", headName, JSON.stringify(next), saved?.revision);
    if (outcome === "committed") return;
  }
}

/** Removes the oldest entries, after an entry that records this. */
async function trim(documents: Documents, { first, seq }: LogState, time: string): Promise<void> {
  const last = Math.min(first + trimCount, seq) - 1;
  if (last < first) return;
  await appendEntry(documents, {
    ...{ time, act: "trim audit log", detail: formatTrim(last), count: last - first + 1 },
    by: { face: "server" },
  });
  let bytes = 0;
  for await (const { name, text } of readDocuments(documents, first, last)) {
    if (await documents.delete("audit", name)) bytes += text.length;
  }
  const change = (state: LogState) => ({
    ...state,
    first: Math.max(state.first, last + 1),
    bytes: Math.max(0, state.bytes - bytes),
  });
  await changeState(documents, change, maxAttempts);
}

async function* readEntries(documents: Documents, after: string | undefined): AsyncGenerator<LoggedEntry> {
  const [seq = 0, name = ""] = after === undefined ? [] : [Number.parseInt(after, 10), after.slice(2)];
  if (seq === 0) {
    for (const document of await documents.list("act")) {
      if (document.name <= name) continue;
      const parsed = parseLine(Buffer.from(document.text));
      if (parsed.kind !== "damaged") yield { entry: parsed.entry, position: `0 ${document.name}` };
    }
  }
  const state = (await readState(documents))?.state ?? (await startState(documents));
  for await (const document of readToEnd(documents, Math.max(seq + 1, state.first), state.seq)) {
    const parsed = parseLine(Buffer.from(document.text));
    if (parsed.kind === "damaged") continue;
    yield { entry: parsed.entry, position: String(Number(document.name)) };
  }
}

async function* readLines(documents: Documents, saved: LogState | undefined): AsyncGenerator<AuditLine> {
  let number = 0;
  for (const { text } of await documents.list("act")) {
    yield { bytes: Buffer.from(text), file: "audit", number: ++number, isComplete: true };
  }
  const state = saved ?? (await startState(documents));
  for await (const { name, text } of readToEnd(documents, state.first, state.seq)) {
    yield { bytes: Buffer.from(text), file: "audit", number: Number(name), isComplete: true };
  }
}

/** Yields the entries from `first` to `last`, and those that were appended after it. */
async function* readToEnd(documents: Documents, first: number, last: number): AsyncGenerator<Document> {
  yield* readDocuments(documents, first, last);
  for (let seq = Math.max(first, last + 1); ; seq++) {
    const document = await documents.get("audit", entryName(seq));
    if (document === undefined) return;
    yield document;
  }
}

/** Yields the existing documents of a range. Memory is bounded, unlike that of `list`. */
async function* readDocuments(documents: Documents, first: number, last: number): AsyncGenerator<Document> {
  for (let seq = first; seq <= last; seq += readConcurrency) {
    const count = Math.min(readConcurrency, last - seq + 1);
    const names = Array.from({ length: count }, (_, index) => entryName(seq + index));
    const found = await Promise.all(names.map((name) => documents.get("audit", name)));
    for (const document of found) if (document !== undefined) yield document;
  }
}

function entryName(seq: number): string {
  return String(seq).padStart(15, "0");
}
