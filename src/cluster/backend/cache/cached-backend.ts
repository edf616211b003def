// A blob backend with a cache of bodies on a local disk. Blobs never change, so a cached extent is
// valid forever. A read that misses first copies the whole extent to the cache.
import { Buffer } from "node:buffer";
import process from "node:process";
import { createMetrics } from "../../../metrics/metrics.ts";
import { StoreError } from "../../../model/errors.ts";
import type { ByteRange } from "../../../model/range.ts";
import type { BackendBlob, BlobBackend } from "../backend.ts";
import { createChunkPool } from "../chunk-pool.ts";
import { errorCode } from "../directory/errors.ts";
import { createCacheFolder } from "./cache-folder.ts";
import { type Extent, extentBytes, extentRange, readExtent } from "./extent-file.ts";
import { type CacheMetrics, createCacheMetrics } from "./metrics.ts";

export interface BodyCacheOptions {
  /** Folder on a local disk. It is created if it is missing. */
  readonly directory: string;
  /** Maximum bytes of all files. */
  readonly size: number;
  readonly metrics?: CacheMetrics | undefined;
  /** Default: a warning of this process. */
  readonly warn?: ((line: string) => void) | undefined;
  /** @internal Number of subfolders, for tests of a small cache. */
  readonly folders?: number | undefined;
  /** @internal Time without writes after a write failed. */
  readonly suspendMilliseconds?: number | undefined;
}

export interface CachedBackend extends BlobBackend {
  /** Reads the stored bytes even if they are cached, to verify them. */
  readUncached: BlobBackend["read"];
}

/** Maximum number of extents that are copied to the cache at a time, each in memory meanwhile. */
const maxFills = 32;
/** Number of following extents that are copied to the cache while a missing one is read. */
const readAheadExtents = 2;
/** A longer range would evict too much of the cache, as a part of its size. */
const maxRangeShare = 1 / 8;
const defaultSuspendMilliseconds = 60_000;

export function createCachedBackend(backend: BlobBackend, options: BodyCacheOptions): CachedBackend {
  const { directory, size, suspendMilliseconds = defaultSuspendMilliseconds } = options;
  const metrics = options.metrics ?? createCacheMetrics(createMetrics());
  const warn = options.warn ?? ((line: string) => process.emitWarning(line, "StoreWarning"));
  const chunkPool = createChunkPool();
  const { folders } = options;
  const onEvict = (files: number) => metrics.evictions.add(files);
  const folder = createCacheFolder({ directory, size, folders, onEvict });
  /** Copies in flight by path, so that concurrent readers of an extent share one. */
  const fills = new Map<string, Promise<boolean>>();
  let suspendedUntil = 0;
  let hasWarned = false;

  function onFailedWrite(error: unknown): void {
    suspendedUntil = Date.now() + suspendMilliseconds;
    if (hasWarned) return;
    hasWarned = true;
    const why = error instanceof Error ? error.message : String(error);
    warn(
      `The body cache in ${directory} cannot be written: ${why}. Bodies that it lacks are read from the ` +
        "blob backend. Free space there or set its permissions; it is tried again every minute.",
    );
  }

  async function copyToCache(extent: Extent): Promise<boolean> {
    if (await folder.has(extent)) return true;
    const range = extentRange(extent);
    const bytes = Buffer.allocUnsafeSlow(range.length);
    await readInto(backend.read(extent.blob, range, bytes));
    try {
      await folder.write(extent, bytes);
    } catch (error) {
      onFailedWrite(error);
      return false;
    }
    hasWarned = false;
    metrics.writtenBytes.add(bytes.length);
    return true;
  }

  /** Resolves to false if the extent cannot be cached now. Rejects if it cannot be read. */
  function fill(extent: Extent): Promise<boolean> {
    const path = folder.path(extent);
    const current = fills.get(path);
    if (current !== undefined) return current;
    if (fills.size >= maxFills || Date.now() < suspendedUntil) return Promise.resolve(false);
    const filling = copyToCache(extent).finally(() => fills.delete(path));
    fills.set(path, filling);
    return filling;
  }

  /** Returns the number of the last extent that the next reads may use. */
  function fillAhead({ blob, number }: Extent, end: number): number {
    for (let ahead = 1; ahead <= readAheadExtents; ahead++) {
      const next = { blob, number: number + ahead };
      // A failure is reported to the reader that needs the extent.
      if (next.number * extentBytes < end) fill(next).catch(() => {});
    }
    return number + readAheadExtents;
  }

  /** Yields what is cached and intact, from the start of the range. */
  async function* readCached(
    extent: Extent,
    range: ByteRange,
    into: Uint8Array | undefined,
  ): AsyncGenerator<Uint8Array> {
    let given = 0;
    try {
      for await (const chunk of readExtent(extent, folder.path(extent), { range, into, chunkPool })) {
        given += chunk.length;
        yield chunk;
      }
      folder.touch(extent);
    } catch (error) {
      // Mostly the file is missing. What is damaged is removed, and written again.
      if (!isDamage(error)) return;
      metrics.damages.add(1);
      await folder.remove(extent);
    } finally {
      metrics.readBytes.add(given);
    }
  }

  async function* read(blob: BackendBlob, range: ByteRange, into?: Uint8Array): AsyncGenerator<Uint8Array> {
    const end = range.offset + range.length;
    let position = range.offset;
    /** The last extent that was copied ahead for this read, which therefore is not a hit. */
    let aheadTo = -1;

    async function* readTo(
      partEnd: number,
      source: (part: ByteRange, target: Uint8Array | undefined) => AsyncGenerator<Uint8Array>,
    ): AsyncGenerator<Uint8Array> {
      const part = { offset: position, length: partEnd - position };
      const start = position - range.offset;
      for await (const chunk of source(part, into?.subarray(start, start + part.length))) {
        position += chunk.length;
        yield chunk;
      }
    }
    const fromBackend = (part: ByteRange, target: Uint8Array | undefined) => backend.read(blob, part, target);

    // Of an empty blob, only the backend knows whether it exists.
    if (range.length === 0) yield* readTo(end, fromBackend);
    const endRead = chunkPool.beginRead();
    try {
      while (position < end) {
        const extent = { blob, number: Math.floor(position / extentBytes) };
        const partEnd = Math.min(end, (extent.number + 1) * extentBytes);
        const fromCache = (part: ByteRange, target: Uint8Array | undefined) =>
          readCached(extent, part, target);
        const isAhead = extent.number <= aheadTo;
        if (isAhead) aheadTo = fillAhead(extent, end);
        yield* readTo(partEnd, fromCache);
        (position === partEnd && !isAhead ? metrics.hits : metrics.misses).add(1);
        if (position === partEnd) continue;
        const isShort = range.length <= size * maxRangeShare;
        const filling = isShort ? fill(extent) : false;
        if (isShort) aheadTo = fillAhead(extent, end);
        const isCached = await filling;
        if (isCached) yield* readTo(partEnd, fromCache);
        if (position === partEnd) continue;
        // Without the cache, one request for all that remains is faster than one for each extent.
        metrics.bypasses.add(1);
        yield* readTo(isCached ? partEnd : end, fromBackend);
      }
    } finally {
      endRead();
    }
  }

  // Leftovers of a crash, and what exceeds a size that was reduced.
  const tidying = folder.tidy().catch(() => {});

  return {
    ...backend,
    read,
    readUncached: backend.read,
    release(chunk) {
      if (!chunkPool.release(chunk)) backend.release(chunk);
    },
    async close() {
      // Closed first, so that copies in flight fail instead of waiting for an unavailable backend.
      await backend.close();
      await Promise.allSettled(fills.values());
      await folder.close();
      await tidying;
    },
  };
}

/** Waits until a read has filled the buffer that it was given. */
async function readInto(reading: AsyncGenerator<Uint8Array>): Promise<void> {
  let isDone = false;
  while (!isDone) isDone = (await reading.next()).done === true;
}

function isDamage(error: unknown): boolean {
  return (error instanceof StoreError && error.reason === "Damaged") || errorCode(error) === "EIO";
}
