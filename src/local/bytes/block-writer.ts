// Writes and syncs a blob's file: its bytes, then a CRC-32 of each block.
import { close, constants, fdatasync, open, write } from "node:fs";
import { performance } from "node:perf_hooks";
import { promisify } from "node:util";
import { crc32 } from "@node-rs/crc32";

const openFile = promisify(open);
const closeFile = promisify(close);
const syncFile = promisify(fdatasync);
const writeFile = promisify(write);
export const checksumBytes = 4;

/** Size of a blob on disk, with its checksums. */
export function storedBytes(size: number, blockBytes: number): number {
  return size + Math.ceil(size / blockBytes) * checksumBytes;
}

/** A long body is synced each time this many bytes were written, so that its last sync is short. */
const syncEvery = 8 * 1024 * 1024;

/** Returns each block's initial CRC. It depends on blob and index to detect misplaced blocks. */
export function checksumSeed(id: string): (block: number) => number {
  const seed = crc32(id);
  return (index) => (seed + index) >>> 0;
}

export interface BlockFileOptions {
  readonly seed: (block: number) => number;
  readonly blockBytes: number;
  /** Offset in a shared file. Default: a new file is created. */
  readonly start?: number;
  /** Called after the last sync with its duration. */
  readonly onSynced?: (seconds: number) => void;
}

/** Writes and syncs the file; returns its size without checksums. The caller syncs the folder. */
export async function writeBlockFile(
  path: string,
  chunks: AsyncIterable<Uint8Array>,
  { seed, blockBytes, start, onSynced }: BlockFileOptions,
): Promise<number> {
  const isNew = start === undefined ? constants.O_EXCL : 0;
  const file = await openFile(path, constants.O_CREAT | isNew | constants.O_WRONLY, 0o600);
  const from = start ?? 0;
  const inFlight = { write: Promise.resolve(), sync: Promise.resolve() };
  try {
    const checksums = createBlockChecksums(seed, blockBytes);
    let size = 0;
    let unsynced = 0;
    for await (const chunk of chunks) {
      checksums.update(chunk);
      await inFlight.write;
      // The write runs while the next chunk is received and hashed.
      inFlight.write = writeAll(file, chunk, from + size);
      inFlight.write.catch(() => {});
      size += chunk.length;
      unsynced += chunk.length;
      if (unsynced >= syncEvery) {
        unsynced = 0;
        await inFlight.sync;
        inFlight.sync = syncFile(file);
        inFlight.sync.catch(() => {});
      }
    }
    await inFlight.write;
    await writeAll(file, checksums.finish(), from + size);
    await inFlight.sync;
    const begin = performance.now();
    await syncFile(file);
    onSynced?.((performance.now() - begin) / 1000);
    return size;
  } finally {
    // No write or sync may be in flight when the descriptor is closed.
    await Promise.allSettled([inFlight.write, inFlight.sync]);
    await closeFile(file);
  }
}

async function writeAll(file: number, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await writeFile(file, bytes, done, bytes.length - done, position + done);
    done += bytesWritten;
  }
}

function createBlockChecksums(seed: (block: number) => number, blockBytes: number) {
  let table = new DataView(new ArrayBuffer(1024));
  let blocks = 0;
  let current = seed(0);
  let filled = 0;

  function endBlock(): void {
    if ((blocks + 1) * checksumBytes > table.byteLength) {
      const larger = new Uint8Array(table.byteLength * 2);
      larger.set(new Uint8Array(table.buffer));
      table = new DataView(larger.buffer);
    }
    table.setUint32(blocks++ * checksumBytes, current);
    current = seed(blocks);
    filled = 0;
  }

  return {
    update(bytes: Uint8Array): void {
      for (let at = 0; at < bytes.length; ) {
        const slice = bytes.subarray(at, at + blockBytes - filled);
        current = crc32(slice, current);
        filled += slice.length;
        at += slice.length;
        if (filled === blockBytes) endBlock();
      }
    },
    finish(): Uint8Array {
      if (filled > 0) endBlock();
      return new Uint8Array(table.buffer, 0, blocks * checksumBytes);
    },
  };
}
