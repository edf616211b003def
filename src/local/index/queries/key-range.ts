// Ranges of keys that a listing reads, and the sizes of the batches in which it reads them.
import { Buffer } from "node:buffer";
import { keyBytes } from "../../../model/key.ts";
import type { Position, Scan } from "../../../model/listing.ts";
import { afterAllKeys, successor } from "./upload-queries.ts";

/** Number of rows in the first batch of a scan, and below, in its largest batch. */
const firstBatchRows = 4;
const maxBatchRows = 1001;

/** Batches grow: skipping a folder reads few rows, and a long run needs few queries. */
export function firstBatch({ delimiter, limit }: Pick<Scan, "delimiter" | "limit">): number {
  return delimiter === "" ? Math.min(limit + 1, maxBatchRows) : firstBatchRows;
}

export function nextBatch(rows: number): number {
  return Math.min(rows * 8, maxBatchRows);
}

/** Returns the first key of the range and the first key after it. */
export function keyRange(prefix: string, after: Position): [from: Uint8Array, end: Uint8Array] {
  const start = keyBytes(prefix);
  const first = startAfter(after);
  return [Buffer.compare(first, start) > 0 ? first : start, successor(start) ?? afterAllKeys];
}

/** Returns the first possible key after a position. */
function startAfter({ kind, value }: Position): Uint8Array {
  const bytes = keyBytes(value);
  if (kind === "key") return keyAfter(bytes);
  return kind === "prefix" ? (successor(bytes) ?? bytes) : bytes;
}

export function keyAfter(key: Uint8Array): Uint8Array {
  return Buffer.concat([key, nul]);
}

const nul = Buffer.alloc(1);
