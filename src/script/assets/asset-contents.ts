// Reads assets: small files are cached in memory, large files are read from disk. A response never
// combines the etag of one version of a file with the bytes of another.
import { Buffer } from "node:buffer";
import console from "node:console";
import { createHash } from "node:crypto";
import { constants, type Stats } from "node:fs";
import { type FileHandle, open, realpath, stat } from "node:fs/promises";
import { performance } from "node:perf_hooks";
import type { ByteSource, HttpBody } from "../../http/server/listen.ts";
import type { ByteRange } from "../../model/range.ts";
import { type AssetFile, isGone } from "./asset-directory.ts";

/** One version of a file. */
export interface AssetContent {
  readonly size: number;
  /** Etag, with its quotes. */
  readonly etag: string;
  /** The whole content of a small file; undefined for a large file. */
  readonly bytes: Buffer | undefined;
  readonly identity: string;
}

export interface AssetContents {
  /** Undefined when the file is gone. Synchronous if the cached content was checked recently. */
  read(asset: AssetFile): AssetContent | undefined | Promise<AssetContent | undefined>;
  /** Opens a range of the file; undefined when the file has changed since `content` was read. */
  open(asset: AssetFile, content: AssetContent, range: ByteRange): HttpBody | Promise<HttpBody | undefined>;
}

export interface ContentsOptions {
  /** How long cached content is served without checking whether the file has changed. */
  readonly trustMilliseconds: number;
}

const smallBytes = 256 * 1024;
const maxMemoryBytes = 32 * 1024 * 1024;
const chunkBytes = 256 * 1024;
/** File timestamps are coarse: a file newer than this may change again with the same mtime. */
const clockGranularityMilliseconds = 100;

interface CachedContent extends AssetContent {
  comparedAt: number;
}

export function createAssetContents({ trustMilliseconds }: ContentsOptions): AssetContents {
  /** Cached contents by file path. */
  const cache = new Map<string, CachedContent>();
  const inFlight = new Map<string, Promise<AssetContent | undefined>>();
  let memoryBytes = 0;

  function evict({ file }: Pick<AssetFile, "file">): void {
    memoryBytes -= cache.get(file)?.bytes?.length ?? 0;
    cache.delete(file);
  }

  function store(asset: AssetFile, content: AssetContent): void {
    evict(asset);
    memoryBytes += content.bytes?.length ?? 0;
    cache.set(asset.file, { ...content, comparedAt: performance.now() });
    // Evict the oldest small files first. For large files only an etag is cached, which is kept.
    for (const [file, { bytes }] of cache) {
      if (memoryBytes <= maxMemoryBytes) break;
      if (bytes !== undefined) evict({ file });
    }
  }

  async function compareOrRead(asset: AssetFile): Promise<AssetContent | undefined> {
    try {
      const cached = cache.get(asset.file);
      if (cached !== undefined && fileIdentity(await stat(asset.file)) === cached.identity) {
        cached.comparedAt = performance.now();
        return cached;
      }
      evict(asset);
      const { content, isSettled } = await readContent(asset);
      if (isSettled) store(asset, content);
      return content;
    } catch (error) {
      evict(asset);
      if (isGone(error)) return undefined;
      throw error;
    }
  }

  return {
    read(asset) {
      const cached = cache.get(asset.file);
      if (cached !== undefined && performance.now() - cached.comparedAt < trustMilliseconds) return cached;
      const before = inFlight.get(asset.file);
      if (before !== undefined) return before;
      const read = compareOrRead(asset).finally(() => inFlight.delete(asset.file));
      inFlight.set(asset.file, read);
      return read;
    },
    open(asset, { bytes, identity }, { offset, length }) {
      if (bytes !== undefined) return bytes.subarray(offset, offset + length);
      return openRange(asset, identity, { offset, length }).then((source) => {
        if (source === undefined) evict(asset);
        return source;
      });
    },
  };
}

function fileIdentity({ dev, ino, size, mtimeMs, ctimeMs }: Stats): string {
  return `${dev} ${ino} ${size} ${mtimeMs} ${ctimeMs}`;
}

/** Opens only a regular file at this exact path, not a link or pipe that has replaced it. */
async function openFile({ file }: AssetFile): Promise<FileHandle> {
  const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;
  const handle = await open(file, flags).catch((error: NodeJS.ErrnoException) => {
    throw error.code === "ELOOP" ? goneError(file) : error;
  });
  try {
    if (!(await handle.stat()).isFile() || (await realpath(file)) !== file) throw goneError(file);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

function goneError(file: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${file} is not a file any more.`), { code: "ENOENT" });
}

interface ReadContent {
  readonly content: AssetContent;
  /** Whether any later change of the file will also change its mtime. */
  readonly isSettled: boolean;
}

const maxAttempts = 5;

/** Retries when the file changes while it is being read. */
async function readContent(asset: AssetFile): Promise<ReadContent> {
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    const handle = await openFile(asset);
    try {
      const before = await handle.stat();
      const { size } = before;
      const bytes = size <= smallBytes ? Buffer.allocUnsafeSlow(size) : undefined;
      const hash = createHash("sha256");
      let read = 0;
      for await (const chunk of readChunks(handle, { offset: 0, length: size })) {
        hash.update(chunk);
        bytes?.set(chunk, read);
        read += chunk.length;
      }
      const identity = fileIdentity(await handle.stat());
      if (read !== size || identity !== fileIdentity(before)) continue;
      const etag = `"${hash.digest("hex").slice(0, 32)}"`;
      const isSettled = Date.now() - Math.max(before.mtimeMs, before.ctimeMs) > clockGranularityMilliseconds;
      return { content: { size, etag, bytes, identity }, isSettled };
    } finally {
      await handle.close();
    }
  }
  throw new Error(`${asset.file} changes all the time: it cannot be served while it is written.`);
}

/** Stops early if the file is shorter than the range. */
async function* readChunks(handle: FileHandle, { offset, length }: ByteRange): AsyncGenerator<Uint8Array> {
  for (let done = 0; done < length; ) {
    const buffer = Buffer.allocUnsafeSlow(Math.min(chunkBytes, length - done));
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, offset + done);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
    done += bytesRead;
  }
}

async function openRange(
  asset: AssetFile,
  identity: string,
  range: ByteRange,
): Promise<ByteSource | undefined> {
  const handle = await openFile(asset).catch((error: unknown) => {
    if (isGone(error)) return undefined;
    throw error;
  });
  if (handle === undefined) return undefined;
  if (fileIdentity(await handle.stat()) === identity) return toByteSource(asset, handle, { identity, range });
  await handle.close();
  return undefined;
}

interface SentRange {
  readonly identity: string;
  readonly range: ByteRange;
}

/** Aborts the response if the file changes: the client receives fewer bytes than announced. */
function toByteSource({ file }: AssetFile, handle: FileHandle, { identity, range }: SentRange): ByteSource {
  let closed: Promise<void> | undefined;
  const close = () => {
    closed ??= handle.close();
    return closed;
  };
  return {
    length: range.length,
    async *chunks() {
      let remaining = range.length;
      try {
        for await (const chunk of readChunks(handle, range)) {
          remaining -= chunk.length;
          if (remaining === 0 && fileIdentity(await handle.stat()) !== identity) throw changedError(file);
          yield chunk;
        }
        if (remaining > 0) throw changedError(file);
      } catch (error) {
        // The status is already sent, so the connection is closed and the error is logged.
        if (closed === undefined) console.error(error);
        throw error;
      } finally {
        await close();
      }
    },
    cancel: close,
  };
}

function changedError(file: string): Error {
  return new Error(`${file} changed while it was sent.`);
}
