// Listing: groups keys at a delimiter, fills pages and encodes cursors. A group is skipped by
// seeking past it, so a folder of a million keys costs as much as a folder of ten.
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { StoreError } from "./errors.ts";
import { compareKeys, type Key } from "./key.ts";
import { metadataBytes } from "./metadata.ts";
import type { ObjectRecord } from "./object.ts";

/** Where a listing resumes: after one key, or after every key that starts with a prefix. */
export interface Position {
  readonly kind: "start" | "key" | "prefix";
  readonly value: string;
}

export interface Scan {
  readonly prefix: string;
  /** Empty: no delimiter. */
  readonly delimiter: string;
  readonly after?: Position | undefined;
  /** Maximum number of objects and prefixes together. */
  readonly limit: number;
  /** The page ends early at this many bytes of metadata. Infinity: no limit. */
  readonly metadataBytes: number;
  /** List the objects that were current at this time. Undefined: those that are current now. */
  readonly time?: number | undefined;
}

type ListedRecord = Pick<ObjectRecord, "key" | "httpMetadata" | "customMetadata" | "tags">;
export type PageEntry<T> = { readonly record: T } | { readonly prefix: string };

export interface Page<T> {
  readonly entries: readonly PageEntry<T>[];
  /** Start of the next page. Undefined on the last page. */
  readonly next: Position | undefined;
}

/** Returns records in key order whose keys start with the prefix and come after the position. */
export type Seek<T> = (prefix: string, after: Position) => Iterable<T>;

/** Walks the index once, in key order, and seeks past every group that was listed. */
export function collectPage<T extends ListedRecord>(seek: Seek<T>, scan: Scan): Page<T> {
  const entries: PageEntry<T>[] = [];
  let position: Position = scan.after ?? { kind: "start", value: "" };
  let weight = 0;
  for (;;) {
    let jumped = false;
    for (const record of seek(scan.prefix, position)) {
      if (entries.length >= scan.limit || weight >= scan.metadataBytes) return { entries, next: position };
      const group = findGroup(record.key, scan.prefix, scan.delimiter);
      if (group === undefined) {
        entries.push({ record });
        if (scan.metadataBytes !== Number.POSITIVE_INFINITY) weight += metadataBytes(record);
        position = { kind: "key", value: record.key };
      } else {
        entries.push({ prefix: group });
        position = { kind: "prefix", value: group };
        jumped = true;
        break;
      }
    }
    if (!jumped) return { entries, next: undefined };
  }
}

interface ListedKeyVersion {
  readonly version: { readonly key: Key; readonly version: string };
}

/** A position in a listing of versions; with `version`, after that version of the key. */
export interface VersionPosition extends Position {
  readonly version?: string | undefined;
}

/** Like `collectPage`, for versions: `seek` returns all versions of a key, the newest first. */
export function collectVersionPage<T extends ListedKeyVersion>(
  seek: (prefix: string, after: VersionPosition) => Iterable<T>,
  scan: Pick<Scan, "prefix" | "delimiter" | "limit"> & { readonly after?: VersionPosition | undefined },
): { readonly entries: readonly PageEntry<T>[]; readonly next: VersionPosition | undefined } {
  const entries: PageEntry<T>[] = [];
  let position: VersionPosition = scan.after ?? { kind: "start", value: "" };
  for (;;) {
    let jumped = false;
    for (const record of seek(scan.prefix, position)) {
      if (entries.length >= scan.limit) return { entries, next: position };
      const { key, version } = record.version;
      const group = findGroup(key, scan.prefix, scan.delimiter);
      if (group === undefined) {
        entries.push({ record });
        position = { kind: "key", value: key, version };
      } else {
        entries.push({ prefix: group });
        position = { kind: "prefix", value: group };
        jumped = true;
        break;
      }
    }
    if (!jumped) return { entries, next: undefined };
  }
}

/** Returns the key up to and including the first delimiter after the prefix, if any. */
function findGroup(key: Key, prefix: string, delimiter: string): string | undefined {
  if (delimiter === "") return undefined;
  const at = key.indexOf(delimiter, prefix.length);
  return at === -1 ? undefined : key.slice(0, at + delimiter.length);
}

/** Returns the later of two start positions, such as a cursor and a startAfter. */
export function laterPosition(a: Position | undefined, b: Position | undefined): Position | undefined {
  if (a === undefined || a.kind === "start") return b ?? a;
  if (b === undefined || b.kind === "start") return a;
  if (a.kind === "prefix" && b.value.startsWith(a.value)) return a;
  if (b.kind === "prefix" && a.value.startsWith(b.value)) return b;
  return compareKeys(a.value, b.value) >= 0 ? a : b;
}

const marks = { start: "s", key: "k", prefix: "p" } as const;

/** First letter of a cursor in a listing of versions, so that other listings refuse it. */
const versionsMark = "v";

export function encodeCursor(position: Position): string {
  return sealCursor(marks[position.kind] + position.value);
}

export function decodeCursor(cursor: string): Position {
  const payload = openCursor(cursor);
  if (payload[0] === versionsMark) {
    throw invalidCursor("The cursor is of a list of versions: pass it only to a list of versions.");
  }
  return { kind: parseKind(payload[0]), value: payload.slice(1) };
}

export function encodeVersionCursor({ kind, value, version = "" }: VersionPosition): string {
  return sealCursor(`${versionsMark}${marks[kind]}${version} ${value}`);
}

export function decodeVersionCursor(cursor: string): VersionPosition {
  const payload = openCursor(cursor);
  if (payload[0] !== versionsMark) {
    throw invalidCursor("The cursor is not of a list of versions: pass the cursor of a list of versions.");
  }
  // An id has no space, so the first space is the end of the id.
  const end = payload.indexOf(" ");
  const position = { kind: parseKind(payload[1]), value: payload.slice(end + 1) };
  return end > 2 ? { ...position, version: payload.slice(2, end) } : position;
}

function parseKind(mark: string | undefined): Position["kind"] {
  const kind = (["start", "key", "prefix"] as const).find((candidate) => marks[candidate] === mark);
  if (kind === undefined) throw invalidCursor();
  return kind;
}

function invalidCursor(detail = "The cursor is not valid: pass the cursor of a previous list."): StoreError {
  return new StoreError("InvalidArgument", { detail });
}

const sealBytes = 6;

function sealCursor(payload: string): string {
  return Buffer.concat([seal(payload), Buffer.from(payload)]).toString("base64url");
}

/** Refuses a cursor that Store did not create: a checksum detects changed cursors. */
function openCursor(cursor: string): string {
  const bytes = Buffer.from(cursor, "base64url");
  const payload = bytes.subarray(sealBytes).toString();
  const isOurs = bytes.toString("base64url") === cursor && bytes.subarray(0, sealBytes).equals(seal(payload));
  if (!isOurs) throw invalidCursor();
  return payload;
}

function seal(payload: string): Buffer {
  return createHash("sha256").update("store list cursor\n").update(payload).digest().subarray(0, sealBytes);
}
