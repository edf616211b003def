// Copies files for backups: complete, synced, and verified against their checksums.
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { close, fsync, open, read, write } from "node:fs";
import { rename, rm, stat } from "node:fs/promises";
import { promisify } from "node:util";
import type { StoredBlob } from "../../engine/blobs.ts";
import { limits } from "../../model/limits.ts";
import { readBlockFile } from "../bytes/block-reader.ts";
import { checksumSeed, storedBytes, writeBlockFile } from "../bytes/block-writer.ts";
import { isMissing } from "../disk/errors.ts";
import type { FileEntry } from "./manifest.ts";

const openFile = promisify(open);
const closeFile = promisify(close);
const syncFile = promisify(fsync);
const readFile = promisify(read);
const writeFile = promisify(write);
const blockBytes = limits.blockBytes;
const chunkBytes = 1024 * 1024;

/** Called after each chunk with its number of bytes. Throws if the work was cancelled. */
export type Watch = (bytes: number) => void;

/** Writes and syncs a file that only its owner can read. */
export async function writeWhole(path: string, bytes: Uint8Array): Promise<FileEntry> {
  return writeChunks(path, [bytes]);
}

/** Writes and syncs a file, replacing an existing file. The caller syncs the directory. */
export async function writeChunks(
  path: string,
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<FileEntry> {
  await rm(path, { force: true });
  const file = await openFile(path, "wx", 0o600);
  try {
    const hash = createHash("sha256");
    let bytes = 0;
    for await (const chunk of chunks) {
      hash.update(chunk);
      for (let done = 0; done < chunk.length; ) {
        done += (await writeFile(file, chunk, done, chunk.length - done, bytes + done)).bytesWritten;
      }
      bytes += chunk.length;
    }
    await syncFile(file);
    return { bytes, sha256: hash.digest("hex") };
  } finally {
    await closeFile(file);
  }
}

/** Copies a file and returns its size and digest for the caller to compare. */
export function copyWhole(from: string, to: string, watch: Watch): Promise<FileEntry> {
  return writeChunks(to, readChunks(from, watch));
}

/** Returns size and digest of a file. With `sync`, also makes the file durable. */
export async function inspectFile(path: string, watch: Watch, sync?: "sync"): Promise<FileEntry> {
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const chunk of readChunks(path, watch)) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  if (sync !== undefined) await syncPath(path);
  return { bytes, sha256: hash.digest("hex") };
}

export async function* readChunks(path: string, watch: Watch): AsyncGenerator<Uint8Array> {
  const file = await openFile(path, "r");
  try {
    for (;;) {
      const chunk = Buffer.allocUnsafe(chunkBytes);
      const { bytesRead } = await readFile(file, chunk, 0, chunkBytes, null);
      if (bytesRead === 0) return;
      watch(bytesRead);
      yield chunk.subarray(0, bytesRead);
    }
  } finally {
    await closeFile(file);
  }
}

async function syncPath(path: string): Promise<void> {
  const file = await openFile(path, "r+");
  try {
    await syncFile(file);
  } finally {
    await closeFile(file);
  }
}

/** An open file, and the offset of the blob in it. */
export interface BlobSource {
  readonly descriptor: number;
  readonly start: number;
}

/** Yields the bytes of a blob; each block is verified. */
export async function* blobChunks(
  source: BlobSource,
  { id, size }: StoredBlob,
  watch: Watch,
): AsyncGenerator<Uint8Array> {
  const seed = checksumSeed(id);
  const file = { ...source, size, blockBytes, name: `blob ${id}`, seed, spare: [] };
  for await (const chunk of readBlockFile(file, { offset: 0, length: size })) {
    watch(chunk.length);
    yield chunk;
  }
}

/** Yields the bytes of a blob that has a file of its own. */
export async function* fileChunks(path: string, blob: StoredBlob, watch: Watch): AsyncGenerator<Uint8Array> {
  const descriptor = await openFile(path, "r");
  try {
    yield* blobChunks({ descriptor, start: 0 }, blob, watch);
  } finally {
    await closeFile(descriptor);
  }
}

/** Writes a blob from verified bytes. The file gets its final name when it is complete and synced. */
export async function writeBlob(
  chunks: AsyncIterable<Uint8Array>,
  { id }: StoredBlob,
  to: string,
): Promise<void> {
  const partial = `${to}.partial`;
  await rm(partial, { force: true });
  await writeBlockFile(partial, chunks, { seed: checksumSeed(id), blockBytes });
  await rename(partial, to);
}

/** Writes a blob to its offset in a segment. The first blob creates the segment. */
export async function writeIntoSegment(
  chunks: AsyncIterable<Uint8Array>,
  { id }: StoredBlob,
  to: { readonly path: string; readonly start: number },
): Promise<void> {
  await writeBlockFile(to.path, chunks, { seed: checksumSeed(id), blockBytes, start: to.start });
}

/** Reads a blob to its end. Throws if the blob is damaged. */
export async function readBlob(path: string, blob: StoredBlob, watch: Watch, start = 0): Promise<void> {
  const descriptor = await openFile(path, "r");
  try {
    for await (const _ of blobChunks({ descriptor, start }, blob, watch));
  } finally {
    await closeFile(descriptor);
  }
}

/** Whether a file of the blob's length exists. Only complete files have their final name. */
export async function hasBlob(path: string, { size }: StoredBlob): Promise<boolean> {
  try {
    return (await stat(path)).size === storedBytes(size, blockBytes);
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}
