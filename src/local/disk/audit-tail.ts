// Finds the entry that the next one follows: the last of the file, or the head saved beside it.

import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { readFile, rename, writeFile } from "node:fs/promises";
import { type ChainHead, maxLineBytes, parseLine } from "../../audit/chain.ts";
import { listRotated, openIfExists, readLines } from "./audit-lines.ts";
import { isMissing } from "./errors.ts";

export interface Tail {
  /** Undefined if the chain has not started. */
  readonly head: ChainHead | undefined;
  /** The bytes after the last line break, which a crash cut. Empty if the last line is complete. */
  readonly torn: Buffer;
}

const windowBytes = 2 * maxLineBytes;

/** Reads the end of the file: enough for the last entry and the cut line after it. */
export async function readTail(file: FileHandle, size: number): Promise<Tail> {
  for (let window = windowBytes; ; window *= 4) {
    const start = Math.max(0, size - window);
    const tail: { head: ChainHead | undefined; torn: Buffer } = { head: undefined, torn: Buffer.alloc(0) };
    let isFirst = start > 0;
    for await (const { bytes, isComplete } of readLines(file, start, size)) {
      // The window starts inside a line.
      if (isFirst) isFirst = false;
      else if (!isComplete) tail.torn = Buffer.from(bytes);
      else tail.head = headOf(bytes) ?? tail.head;
    }
    if (tail.head !== undefined || start === 0 || window > 64 * windowBytes) return tail;
  }
}

/** The head that a complete entry without a line break makes, if it is whole. */
export function headOf(bytes: Uint8Array): ChainHead | undefined {
  const parsed = parseLine(bytes);
  if (parsed.kind !== "chained" || !parsed.isIntact) return undefined;
  return { seq: parsed.entry.seq, hash: parsed.entry.hash };
}

/** Returns the later head. The saved one is later only if entries were removed from the file. */
export function laterHead(a: ChainHead | undefined, b: ChainHead | undefined): ChainHead | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return b.seq > a.seq ? b : a;
}

/** Returns the last entry of the newest renamed file. */
export async function readRotatedHead(path: string): Promise<ChainHead | undefined> {
  const newest = (await listRotated(path)).at(-1);
  const file = newest && (await openIfExists(newest.path));
  if (file === undefined) return undefined;
  try {
    return (await readTail(file, (await file.stat()).size)).head;
  } finally {
    await file.close();
  }
}

/** Returns the hash of the whole file, as the first entry of a chain names it. */
export async function hashFile(file: FileHandle, size: number): Promise<string> {
  const hash = createHash("sha256");
  for await (const { bytes } of readLines(file, 0, size)) hash.update(bytes).update("\n");
  return hash.digest("hex");
}

export async function readSavedHead(path: string): Promise<ChainHead | undefined> {
  const saved = await readJson(path);
  if (typeof saved !== "object" || saved === null) return undefined;
  const { seq, hash } = saved as Partial<ChainHead>;
  if (!Number.isSafeInteger(seq) || typeof hash !== "string" || !/^[0-9a-f]{64}$/.test(hash))
    return undefined;
  return { seq: seq!, hash };
}

/** Not synced: after a power cut, the last entry of the log counts. */
export async function saveHead(path: string, head: ChainHead): Promise<void> {
  await writeFile(`${path}.new`, `${JSON.stringify(head)}\n`, { mode: 0o600 });
  await rename(`${path}.new`, path);
}

export async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, "utf8")) as unknown;
  } catch (error) {
    if (isMissing(error) || error instanceof SyntaxError) return undefined;
    throw error;
  }
}
