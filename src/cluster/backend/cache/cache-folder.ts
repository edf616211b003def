// The folder of the body cache, which all processes of a machine may share: no process keeps a list
// of the files. A time of modification is the time of the last use, and the oldest are evicted.
import { randomBytes } from "node:crypto";
import { access, mkdir, readdir, stat, unlink, utimes } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createSharedRun } from "../../../async/shared-run.ts";
import { isMissing } from "../directory/errors.ts";
import { type Extent, extentFileBytes, writeExtent } from "./extent-file.ts";

export interface CacheFolder {
  path(extent: Extent): string;
  has(extent: Extent): Promise<boolean>;
  /** Writes a verified extent and evicts others in the background. */
  write(extent: Extent, bytes: Uint8Array): Promise<void>;
  /** Records a use, so that the extent is evicted later. */
  touch(extent: Extent): void;
  remove(extent: Extent): Promise<void>;
  /** Enforces the limits and removes leftovers, in all subfolders. */
  tidy(): Promise<void>;
  /** Waits for work in the background. */
  close(): Promise<void>;
}

export interface CacheFolderOptions {
  readonly directory: string;
  /** Maximum bytes of all files. */
  readonly size: number;
  readonly onEvict: (files: number) => void;
  /** Number of subfolders, which share the limits equally. Default: 256. */
  readonly folders?: number | undefined;
}

/** Maximum number of files in a subfolder, so that looking through one takes milliseconds. */
const maxFiles = 4096;
/** Share of a limit that a process writes before it looks at the subfolder again. */
const uncheckedShare = 1 / 64;
/** Share of a limit that remains after an eviction. */
const keptShare = 0.9;
/** A temporary file is written at once, so an old one is a leftover of a crash. */
const leftoverMilliseconds = 60_000;
/** Time in which repeated uses of an extent are recorded once. */
const touchMilliseconds = 60_000;
const maxTouched = 100_000;
const diskBlock = 4096;

const filePattern = /^[0-9a-f]{32}-\d{1,16}-(\d{1,8})$/;
const temporaryPattern = /^[0-9a-f]{32}-\d{1,16}-\d{1,8}\.[0-9a-f]{8}\.tmp$/;

interface Unchecked {
  bytes: number;
  files: number;
  /** Looks through the subfolder. */
  readonly check: () => Promise<void>;
}

export function createCacheFolder(options: CacheFolderOptions): CacheFolder {
  const { size, onEvict, folders = 256 } = options;
  const root = join(options.directory, "bodies");
  const maxBytes = size / folders;
  const inBackground = new Set<Promise<void>>();
  const touched = new Set<string>();
  let touchedSince = Date.now();
  let isClosed = false;

  const subfolder = (number: number) => join(root, number.toString(16).padStart(2, "0"));
  // The extents of a long blob are spread over the subfolders, each of which has a limit.
  const numberOf = ({ blob, number }: Extent) =>
    (Number.parseInt(blob.name.slice(0, 8), 16) + number) % folders;
  const path = (extent: Extent) =>
    join(subfolder(numberOf(extent)), `${extent.blob.name}-${extent.number}-${extentFileBytes(extent)}`);
  const unchecked = Array.from({ length: folders }, (_, number): Unchecked => {
    const check = createSharedRun(() => checkFolder(subfolder(number), { maxBytes, onEvict }));
    return { bytes: 0, files: 0, check };
  });

  function runInBackground(work: Promise<unknown>): void {
    const settled = work.then(
      () => {},
      // Ignored: a file that cannot be evicted or touched is found again by the next check.
      () => {},
    );
    inBackground.add(settled);
    void settled.then(() => inBackground.delete(settled));
  }

  function countWrite(extent: Extent): void {
    const state = unchecked[numberOf(extent)]!;
    state.bytes += diskBytes(extentFileBytes(extent));
    state.files++;
    if (state.bytes < maxBytes * uncheckedShare && state.files < maxFiles * uncheckedShare) return;
    state.bytes = 0;
    state.files = 0;
    runInBackground(state.check());
  }

  return {
    path,

    has: (extent) =>
      access(path(extent)).then(
        () => true,
        () => false,
      ),

    async write(extent, bytes) {
      const target = path(extent);
      const temporary = `${target}.${randomBytes(4).toString("hex")}.tmp`;
      try {
        await writeExtent(extent, bytes, target, temporary);
      } catch (error) {
        if (!isMissing(error)) throw error;
        await mkdir(dirname(target), { recursive: true, mode: 0o700 });
        await writeExtent(extent, bytes, target, temporary);
      }
      countWrite(extent);
    },

    touch(extent) {
      const now = Date.now();
      if (now - touchedSince > touchMilliseconds || touched.size >= maxTouched) {
        touched.clear();
        touchedSince = now;
      }
      const target = path(extent);
      if (touched.has(target)) return;
      touched.add(target);
      runInBackground(utimes(target, now / 1000, now / 1000));
    },

    async remove(extent) {
      // Ignored: without the file there is nothing to remove, and a folder without write permission
      // keeps it, where its checksums prevent its use.
      await unlink(path(extent)).catch(() => {});
    },

    async tidy() {
      for (const { check } of unchecked) {
        if (isClosed) return;
        await check();
      }
    },

    async close() {
      isClosed = true;
      await Promise.all(inBackground);
    },
  };
}

/** Bytes that a file takes on most file systems. */
function diskBytes(length: number): number {
  return Math.ceil(length / diskBlock) * diskBlock;
}

async function checkFolder(
  folder: string,
  { maxBytes, onEvict }: { readonly maxBytes: number; readonly onEvict: (files: number) => void },
): Promise<void> {
  const names = await readdir(folder).catch((error: unknown) => {
    if (isMissing(error)) return [];
    throw error;
  });
  await removeLeftovers(folder, names);
  const files = names.flatMap((name) => {
    const length = filePattern.exec(name)?.[1];
    return length === undefined ? [] : [{ name, bytes: diskBytes(Number(length)) }];
  });
  let bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  let count = files.length;
  // Leave space for what other processes write before they look again.
  const isOver = bytes > maxBytes * (1 - 4 * uncheckedShare) || count > maxFiles;
  if (!isOver) return;
  const times = await Promise.all(files.map(({ name }) => lastUse(join(folder, name))));
  const byAge = files.map((file, i) => ({ ...file, time: times[i]! })).sort((a, b) => a.time - b.time);
  let evicted = 0;
  for (const file of byAge) {
    if (bytes <= maxBytes * keptShare && count <= maxFiles * keptShare) break;
    bytes -= file.bytes;
    count--;
    // Another process may evict at the same time.
    await unlink(join(folder, file.name)).then(
      () => evicted++,
      () => {},
    );
  }
  onEvict(evicted);
}

async function removeLeftovers(folder: string, names: readonly string[]): Promise<void> {
  for (const name of names) {
    if (!temporaryPattern.test(name)) continue;
    const path = join(folder, name);
    if (Date.now() - (await lastUse(path)) > leftoverMilliseconds) await unlink(path).catch(() => {});
  }
}

/** Returns 0 for a file that was removed meanwhile. */
function lastUse(path: string): Promise<number> {
  return stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
}
