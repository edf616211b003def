// The file of one cached extent: the checksums of its blocks, then its bytes. Blocks and checksums
// are those of the blob backend, so that a file under a wrong name is detected too.

import { Buffer } from "node:buffer";
import { close, open as openWithCallback, read, readv } from "node:fs";
import { type FileHandle, open, rename, unlink } from "node:fs/promises";
import { promisify } from "node:util";
import { crc32 } from "@node-rs/crc32";
import type { ByteRange } from "../../../model/range.ts";
import type { BackendBlob } from "../backend.ts";
import { blockBytes, checksumBytes, checksumSeed, countBlocks, damaged } from "../block-format.ts";
import type { ChunkPool } from "../chunk-pool.ts";

/** Number of blocks in an extent. Only the last extent of a blob is shorter. */
export const extentBlocks = 16;
export const extentBytes = extentBlocks * blockBytes;

/** A fixed part of a blob, cached in a file of its own. */
export interface Extent {
  readonly blob: BackendBlob;
  readonly number: number;
}

export function extentRange({ blob, number }: Extent): ByteRange {
  const offset = number * extentBytes;
  return { offset, length: Math.min(extentBytes, blob.size - offset) };
}

export function extentFileBytes(extent: Extent): number {
  const { length } = extentRange(extent);
  return length + countBlocks(length) * checksumBytes;
}

/** Writes the file under a temporary name, then renames it: a file with its name is whole. */
export async function writeExtent(extent: Extent, bytes: Uint8Array, path: string, temporary: string) {
  let file: FileHandle | undefined;
  try {
    file = await open(temporary, "wx", 0o600);
    const { bytesWritten } = await file.writev([checksumTable(extent, bytes), bytes], 0);
    // The rest of a short write would fail with the reason: the disk is full.
    if (bytesWritten < extentFileBytes(extent)) throw shortWriteError();
    await file.close();
    await rename(temporary, path);
  } catch (error) {
    await file?.close().catch(() => {});
    if (file !== undefined) await unlink(temporary).catch(() => {});
    throw error;
  }
}

function shortWriteError(): Error {
  return Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
}

function checksumTable({ blob, number }: Extent, bytes: Uint8Array): Buffer {
  const seed = checksumSeed(blob.name);
  const count = countBlocks(bytes.length);
  const table = Buffer.allocUnsafe(count * checksumBytes);
  for (let i = 0; i < count; i++) {
    const block = bytes.subarray(i * blockBytes, (i + 1) * blockBytes);
    table.writeUInt32BE(crc32(block, seed(number * extentBlocks + i)), i * checksumBytes);
  }
  return table;
}

const openFile = promisify(openWithCallback);
const closeFile = promisify(close);
const readFile = promisify(read);
const readFileParts = promisify(readv);

export interface ExtentReadOptions {
  /** A range of the blob inside the extent. */
  readonly range: ByteRange;
  /** Buffer for the bytes, as long as the range. */
  readonly into: Uint8Array | undefined;
  readonly chunkPool: ChunkPool;
}

/** Yields the verified bytes. Throws the error of `open` if the file is missing. */
export async function* readExtent(
  extent: Extent,
  path: string,
  { range, into, chunkPool }: ExtentReadOptions,
): AsyncGenerator<Uint8Array> {
  const descriptor = await openFile(path, "r");
  const { blob, number } = extent;
  const firstBlock = number * extentBlocks;
  const table = Buffer.allocUnsafe(countBlocks(extentRange(extent).length) * checksumBytes);
  const seed = checksumSeed(blob.name);
  const endBlock = countBlocks(range.offset + range.length);
  const groupBlocks = chunkPool.groupBlocks();
  let hasTable = false;

  function bufferOf(offset: number, length: number): Uint8Array {
    const start = offset - range.offset;
    const isWithin = into !== undefined && start >= 0 && start + length <= into.length;
    return isWithin ? into.subarray(start, start + length) : chunkPool.allocate(length);
  }

  /** Returns the part of whole blocks that is in the range, as a view of `into` if it is given. */
  function cut(bytes: Uint8Array, offset: number): Uint8Array {
    const first = Math.max(0, range.offset - offset);
    const last = Math.min(bytes.length, range.offset + range.length - offset);
    if (first === 0 && last === bytes.length) return bytes;
    const part = bytes.subarray(first, last);
    if (into === undefined) return part;
    const start = offset + first - range.offset;
    into.set(part, start);
    chunkPool.release(bytes);
    return into.subarray(start, start + part.length);
  }

  /** Reads the checksums with the first blocks, in one call if these follow the checksums. */
  async function readGroup(from: number, bytes: Uint8Array): Promise<void> {
    const at = table.length + (from - firstBlock) * blockBytes;
    if (!hasTable && from === firstBlock) {
      const length = table.length + bytes.length;
      const { bytesRead } = await readFileParts(descriptor, [table, bytes], 0);
      if (bytesRead < length) throw tooShort(extent);
    } else {
      if (!hasTable) await readExactly(table, 0);
      await readExactly(bytes, at);
    }
    hasTable = true;
    for (let i = 0; i * blockBytes < bytes.length; i++) {
      const block = from + i;
      const checksum = crc32(bytes.subarray(i * blockBytes, (i + 1) * blockBytes), seed(block));
      if (checksum !== table.readUInt32BE((block - firstBlock) * checksumBytes))
        throw mismatch(extent, block);
    }
  }

  async function readExactly(bytes: Uint8Array, at: number): Promise<void> {
    const { bytesRead } = await readFile(descriptor, bytes, 0, bytes.length, at);
    if (bytesRead < bytes.length) throw tooShort(extent);
  }

  try {
    for (let block = Math.floor(range.offset / blockBytes); block < endBlock; block += groupBlocks) {
      const offset = block * blockBytes;
      const end = Math.min(blob.size, Math.min(endBlock, block + groupBlocks) * blockBytes);
      const bytes = bufferOf(offset, end - offset);
      await readGroup(block, bytes);
      yield cut(bytes, offset);
    }
  } finally {
    await closeFile(descriptor);
  }
}

function tooShort({ blob, number }: Extent): Error {
  return damaged(`the cached extent ${number} of blob ${blob.name} is too short`);
}

function mismatch({ blob }: Extent, block: number): Error {
  return damaged(`the cached block ${block} of blob ${blob.name} does not match its checksum`);
}
