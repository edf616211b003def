// Fills the pages of a listing from batches of rows. The database groups keys at the delimiter.
import { Buffer } from "node:buffer";
import { decodeObject } from "../../engine/codec/record-codec.ts";
import { keyBytes } from "../../model/key.ts";
import { type KeyMatches, type KeySearch, matchPackedKeys } from "../../model/key-search.ts";
import type { Page, PageEntry, Position, Scan } from "../../model/listing.ts";
import { metadataBytes } from "../../model/metadata.ts";
import type { ObjectRecord } from "../../model/object.ts";
import type { Row, Statement } from "../postgres/connection.ts";
import { queries } from "./queries.ts";

export type ReadRows = (statement: Statement, values: readonly unknown[]) => Promise<readonly Row[]>;

/** A key that sorts after every other key, because UTF-8 has no byte 0xff. */
export const afterAllKeys = Buffer.of(0xff);

export async function readPage(read: ReadRows, scan: Scan): Promise<Page<ObjectRecord>> {
  const entries: PageEntry<ObjectRecord>[] = [];
  let next: Position = scan.after ?? { kind: "start", value: "" };
  let weight = 0;
  const isWeighed = scan.metadataBytes !== Number.POSITIVE_INFINITY;
  const isFull = () => entries.length >= scan.limit || weight >= scan.metadataBytes;
  for (;;) {
    // Request one row more than fits, to learn whether another page follows.
    const rowLimit = scan.limit + 1 - entries.length;
    const rows = toEntries(await read(...batchStatement(scan, next, rowLimit)), scan);
    let octets = 0;
    for (const text of rows) {
      if (isFull()) return { entries, next };
      if (typeof text !== "string") {
        const prefix = text.toString();
        entries.push({ prefix });
        next = { kind: "prefix", value: prefix };
        continue;
      }
      const record = decodeObject(text);
      entries.push({ record });
      if (isWeighed) {
        octets += Buffer.byteLength(text);
        weight += metadataBytes(record);
      }
      next = { kind: "key", value: record.key };
    }
    // If the byte limit ended the batch early, there may be more rows.
    const isAll = rows.length < rowLimit && octets < scan.metadataBytes;
    if (isAll) return { entries, next: undefined };
  }
}

export async function findKeys(read: ReadRows, search: KeySearch): Promise<KeyMatches> {
  const prefix = Buffer.from(keyBytes(search.prefix));
  const start = search.after === undefined ? prefix : later(prefix, keyAfter(keyBytes(search.after)));
  const [row] = await read(queries.packedKeys, [start, keysEnd(prefix), search.limit]);
  const [packed, count] = row ?? [];
  return matchPackedKeys((packed ?? Buffer.alloc(0)) as Buffer, Number(count ?? 0), search);
}

/** With a delimiter, a row is a record or a folder. Otherwise one row has a record per line. */
function toEntries(rows: readonly Row[], { delimiter }: Scan): readonly (string | Buffer)[] {
  if (delimiter === "") return rows.flatMap(([records]) => (records as string).split("\n"));
  return rows.map(([record, folder]) => (record ?? folder) as string | Buffer);
}

/** Returns the statement for the entries after a position, limited by rows and metadata bytes. */
function batchStatement(scan: Scan, after: Position, rowLimit: number): [Statement, unknown[]] {
  const prefix = Buffer.from(keyBytes(scan.prefix));
  const start = later(prefix, toStartBytes(after));
  const end = keysEnd(prefix);
  const isWeighed = scan.metadataBytes !== Number.POSITIVE_INFINITY;
  const octets = isWeighed ? scan.metadataBytes : Number.MAX_SAFE_INTEGER;
  if (scan.delimiter !== "") {
    const delimiter = Buffer.from(keyBytes(scan.delimiter));
    const values = [prefix, delimiter, start, end, rowLimit, octets];
    return scan.time === undefined ? [queries.folders, values] : [queries.foldersAt, [...values, scan.time]];
  }
  if (scan.time !== undefined)
    return isWeighed
      ? [queries.weighedObjectsAt, [start, end, rowLimit, octets, scan.time]]
      : [queries.objectsAt, [start, end, rowLimit, scan.time]];
  if (isWeighed) return [queries.weighedObjects, [start, end, rowLimit, scan.metadataBytes]];
  return [queries.objects, [start, end, rowLimit]];
}

/** Returns the first key after all keys with the prefix. */
function keysEnd(prefix: Buffer): Buffer {
  return prefix.length === 0 ? afterAllKeys : successor(prefix);
}

export function toStartBytes({ kind, value }: Position): Buffer {
  const bytes = Buffer.from(keyBytes(value));
  if (kind === "start" || (kind === "prefix" && bytes.length === 0)) return bytes;
  return kind === "key" ? keyAfter(bytes) : successor(bytes);
}

/** Returns the smallest byte string greater than `bytes`. */
export function keyAfter(bytes: Uint8Array): Buffer {
  return Buffer.concat([bytes, Buffer.of(0)]);
}

export function later(a: Buffer, b: Buffer): Buffer {
  return Buffer.compare(a, b) > 0 ? a : b;
}

/** Returns the smallest byte string greater than every string with this prefix. */
export function successor(prefix: Uint8Array): Buffer {
  const end = Buffer.from(prefix);
  end[end.length - 1]!++;
  return end;
}
