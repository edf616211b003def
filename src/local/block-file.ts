// A blob's file: its bytes, then a CRC-32 for each block of 64 KiB of them. Ranges are read in whole blocks
// and verified, so a damaged byte is told, never returned.
import { close, constants, fdatasync, open, read, write } from "node:fs";
import { promisify } from "node:util";
import { crc32 } from "@node-rs/crc32";
import { limits } from "../model/limits.ts";
import type { ByteRange } from "../model/range.ts";
import { damaged } from "./checked.ts";
import { readError } from "./disk-errors.ts";

export const openFile = promisify(open);
export const closeFile = promisify(close);
const syncFile = promisify(fdatasync);
const readFile = promisify(read);
const writeFile = promisify(write);

const block = limits.blockBytes;
const checksumBytes = 4;
/** Read or written at once while few streams are open. */
const largeChunk = 512 * 1024;

/** Long bodies are synced as they come, so that the last sync does not wait for all of the disk's work. */
const syncEvery = 8 * 1024 * 1024;

/** Writes and syncs a new file; the bytes' count is answered. The caller syncs the directory. */
export async function writeBlockFile(path: string, chunks: AsyncIterable<Uint8Array>): Promise<number> {
  const file = await openFile(path, constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY, 0o600);
  const underWay = { write: Promise.resolve(), sync: Promise.resolve() };
  try {
    const checksums = createBlockChecksums();
    let size = 0;
    let unsynced = 0;
    for await (const chunk of chunks) {
      checksums.update(chunk);
      await underWay.write;
      // Written while the next chunk is fetched and hashed.
      underWay.write = writeAll(file, chunk, size);
      underWay.write.catch(() => {});
      size += chunk.length;
      unsynced += chunk.length;
      if (unsynced >= syncEvery) {
        unsynced = 0;
        await underWay.sync;
        underWay.sync = syncFile(file);
        underWay.sync.catch(() => {});
      }
    }
    await underWay.write;
    await writeAll(file, checksums.finish(), size);
    await underWay.sync;
    await syncFile(file);
    return size;
  } finally {
    // Nothing may still be using the descriptor when it is closed.
    await Promise.allSettled([underWay.write, underWay.sync]);
    await closeFile(file);
  }
}

async function writeAll(file: number, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await writeFile(file, bytes, done, bytes.length - done, position + done);
    done += bytesWritten;
  }
}

function createBlockChecksums() {
  let table = new DataView(new ArrayBuffer(1024));
  let blocks = 0;
  let current = 0;
  let filled = 0;

  function endBlock(): void {
    if ((blocks + 1) * checksumBytes > table.byteLength) {
      const larger = new Uint8Array(table.byteLength * 2);
      larger.set(new Uint8Array(table.buffer));
      table = new DataView(larger.buffer);
    }
    table.setUint32(blocks++ * checksumBytes, current);
    current = 0;
    filled = 0;
  }

  return {
    update(bytes: Uint8Array): void {
      for (let at = 0; at < bytes.length; ) {
        const piece = bytes.subarray(at, at + block - filled);
        current = crc32(piece, current);
        filled += piece.length;
        at += piece.length;
        if (filled === block) endBlock();
      }
    },
    finish(): Uint8Array {
      if (filled > 0) endBlock();
      return new Uint8Array(table.buffer, 0, blocks * checksumBytes);
    },
  };
}

/** How many bodies are being read: together they keep within a bounded amount of memory. */
let readers = 0;

function chunkBytes(): number {
  return readers <= 32 ? largeChunk : block;
}

/** Several reads at a time while few bodies are read: a fresh buffer's pages cost as much as the bytes. */
function readsAtOnce(): number {
  return readers <= 8 ? 3 : 1;
}

/** The range's bytes, block by block verified, with the next chunks being read while one is in use. */
export async function* readBlockFile(
  file: number,
  size: number,
  range: ByteRange,
  name: string,
): AsyncGenerator<Uint8Array> {
  const end = Math.min(size, range.offset + range.length);
  const checksums = createChecksumTable(file, size, name);
  let position = range.offset - (range.offset % block);
  let next = position;
  const reading: Promise<Uint8Array>[] = [];
  const readAhead = () => {
    while (reading.length < readsAtOnce() && next < end) {
      const length = Math.min(chunkBytes(), roundUp(end) - next, size - next);
      const chunk = readVerified(file, checksums, { offset: next, length }, name);
      // Awaited when its turn comes; a failure is told then.
      chunk.catch(() => {});
      reading.push(chunk);
      next += length;
    }
  };
  readers++;
  try {
    for (readAhead(); reading.length > 0; readAhead()) {
      const bytes = await reading.shift()!;
      readAhead();
      const first = Math.max(0, range.offset - position);
      const last = Math.min(bytes.length, end - position);
      position += bytes.length;
      yield first === 0 && last === bytes.length ? bytes : bytes.subarray(first, last);
    }
  } finally {
    readers--;
    // The descriptor may be closed behind this: nothing must still be reading from it.
    await Promise.allSettled(reading);
  }
}

function roundUp(position: number): number {
  return Math.ceil(position / block) * block;
}

async function readVerified(
  file: number,
  table: ChecksumTable,
  range: ByteRange,
  name: string,
): Promise<Uint8Array> {
  const bytes = await readExactly(file, range, name);
  for (let at = 0; at < bytes.length; at += block) {
    const index = (range.offset + at) / block;
    if (crc32(bytes.subarray(at, at + block)) !== (await table.of(index)))
      throw damaged(`block ${index} of ${name}`);
  }
  return bytes;
}

async function readExactly(file: number, { offset, length }: ByteRange, name: string): Promise<Uint8Array> {
  const bytes = Buffer.allocUnsafeSlow(length);
  for (let done = 0; done < length; ) {
    const { bytesRead } = await readFile(file, bytes, done, length - done, offset + done).catch(
      (error: unknown) => {
        throw readError(error);
      },
    );
    if (bytesRead === 0) throw damaged(`the end of ${name}`);
    done += bytesRead;
  }
  return bytes;
}

interface ChecksumTable {
  of(index: number): number | Promise<number>;
}

/** The checksums behind the bytes, read a piece at a time as the blocks come by. */
function createChecksumTable(file: number, size: number, name: string): ChecksumTable {
  const pieceBlocks = 4096;
  const blocks = Math.ceil(size / block);
  let first = -1;
  let loading: Promise<DataView> | undefined;
  let piece: DataView | undefined;

  function load(from: number): Promise<DataView> {
    const length = Math.min(pieceBlocks, blocks - from) * checksumBytes;
    first = from;
    piece = undefined;
    loading = readExactly(file, { offset: size + from * checksumBytes, length }, name).then((bytes) => {
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      if (first === from) piece = view;
      return view;
    });
    return loading;
  }

  return {
    of(index) {
      const from = index - (index % pieceBlocks);
      const at = (index - from) * checksumBytes;
      if (first === from && piece !== undefined) return piece.getUint32(at);
      const wanted = first === from ? loading! : load(from);
      return wanted.then((view) => view.getUint32(at));
    },
  };
}
