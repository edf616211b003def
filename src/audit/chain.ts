// The hash chain of the audit log: each entry has a number, the hash of the entry before it, and its
// own hash, the SHA-256 of its line without the hash.
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import type { AuditEntry } from "./audit-log.ts";

/** The last entry of a chain. Before the first entry: number 0 and the hash of all that precedes. */
export interface ChainHead {
  readonly seq: number;
  readonly hash: string;
}

export interface ChainFields {
  readonly seq: number;
  readonly previous: string;
  readonly hash: string;
}

export type ChainedEntry = AuditEntry & ChainFields;

/** Limits of the texts of an entry, in characters; longer texts are cut. */
const maxText = { subject: 512, detail: 1024, name: 256, remoteAddress: 64, request: 64 } as const;
/** Every line is shorter: an escaped character takes at most 6 bytes. */
export const maxLineBytes = 16 * 1024;
/** Length of `,"hash":"…"}` at the end of a line. */
const suffixBytes = 75;
const suffixPattern = /^,"hash":"([0-9a-f]{64})"\}$/;
const hashPattern = /^[0-9a-f]{64}$/;

/** Returns the line of the entry that follows `head`, without its line break, and the new head. */
export function sealEntry(entry: AuditEntry, head: ChainHead): { line: string; head: ChainHead } {
  const seq = head.seq + 1;
  const body = JSON.stringify({ seq, previous: head.hash, ...limitTexts(entry) });
  const hash = sha256(body);
  return { line: `${body.slice(0, -1)},"hash":"${hash}"}`, head: { seq, hash } };
}

/** Lists each field, so that nothing else a caller passes reaches the log. */
export function limitTexts({ time, act, subject, detail, count, by }: AuditEntry): AuditEntry {
  return {
    time,
    act,
    subject: cut(subject, maxText.subject),
    detail: cut(detail, maxText.detail),
    count,
    by: {
      face: by.face,
      name: cut(by.name, maxText.name),
      remoteAddress: cut(by.remoteAddress, maxText.remoteAddress),
      request: cut(by.request, maxText.request),
    },
  };
}

function cut(text: string | undefined, length: number): string | undefined {
  return text === undefined || text.length <= length ? text : `${text.slice(0, length - 1)}…`;
}

export type ParsedLine =
  | { readonly kind: "chained"; readonly entry: ChainedEntry; readonly isIntact: boolean }
  /** An entry of a version without a chain. */
  | { readonly kind: "unchained"; readonly entry: AuditEntry }
  | { readonly kind: "damaged" };

export function parseLine(bytes: Uint8Array): ParsedLine {
  let parsed: unknown;
  try {
    parsed = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8"));
  } catch {
    return { kind: "damaged" };
  }
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) return { kind: "damaged" };
  const entry = parsed as Partial<ChainedEntry>;
  if (entry.seq === undefined && entry.hash === undefined && entry.previous === undefined) {
    return isEntry(entry) ? { kind: "unchained", entry } : { kind: "damaged" };
  }
  if (!isChained(entry)) return { kind: "damaged" };
  return { kind: "chained", entry, isIntact: computeHash(bytes) === entry.hash };
}

function isChained(entry: Partial<ChainedEntry>): entry is ChainedEntry {
  const { seq, previous, hash } = entry;
  return (
    Number.isSafeInteger(seq) &&
    seq! > 0 &&
    [previous, hash].every((text) => typeof text === "string" && hashPattern.test(text)) &&
    isEntry(entry)
  );
}

function isEntry(entry: Partial<AuditEntry>): entry is AuditEntry {
  const { time, act, subject, detail, count, by } = entry;
  const areTexts = [subject, detail].every((text) => text === undefined || typeof text === "string");
  return (
    [time, act].every((text) => typeof text === "string") &&
    areTexts &&
    (count === undefined || typeof count === "number") &&
    typeof by === "object" &&
    by !== null
  );
}

/** Returns the hash that the line must have. Undefined if the line does not end with a hash. */
function computeHash(line: Uint8Array): string | undefined {
  const bodyEnd = line.byteLength - suffixBytes;
  if (bodyEnd < 1 || !suffixPattern.test(Buffer.from(line.subarray(bodyEnd)).toString("latin1")))
    return undefined;
  return createHash("sha256").update(line.subarray(0, bodyEnd)).update("}").digest("hex");
}

export function sha256(data: string | Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}

/** The detail of a "trim audit log" entry: all entries up to this number may be absent. */
export function formatTrim(seq: number): string {
  return `up to entry ${seq}`;
}

export function parseTrim({ act, detail }: AuditEntry): number | undefined {
  const match = act === "trim audit log" ? /^up to entry (\d{1,15})$/.exec(detail ?? "") : null;
  return match === null ? undefined : Number(match[1]);
}
