// Syncs a folder and the keys of a bucket below a prefix. Both are walked in key order, so memory
// use does not depend on their size. A failed key is reported, and the sync continues.
import { forEachLimit } from "../../../async/for-each-limit.ts";
import { type JoinedPair, mergeJoin } from "../../../async/merge-join.ts";
import { StoreError } from "../../../model/errors.ts";
import { compareKeys, type Key } from "../../../model/key.ts";
import type { ObjectRecord } from "../../../model/object.ts";
import { CommandError } from "../../framework/command-error.ts";
import { systemCode } from "../../framework/failures.ts";
import type { NameFilter } from "../../store/glob.ts";
import type { ObjectStore } from "../../store/object-store.ts";
import { createBucketTarget } from "./bucket-target.ts";
import { isFolderMark, nameProblem } from "./folder-names.ts";
import { createFolderTarget } from "./folder-target.ts";
import { type FolderEntry, walkFolder } from "./folder-walk.ts";
import { FolderInTheWay } from "./folder-writer.ts";

/** Options of a sync and of an import. */
export interface TransferOptions {
  readonly engine: ObjectStore;
  readonly bucket: string;
  readonly prefix: string;
  readonly isDryRun: boolean;
  readonly signal: AbortSignal;
  onBytes(count: number): void;
  onEvent(event: TransferEvent): Promise<void>;
}

/** Options of a sync. The prefix is empty or ends with a slash. */
export interface SyncOptions extends TransferOptions {
  /** A real path. */
  readonly folder: string;
  /** The data directory, which is left out of the sync. */
  readonly except: string | undefined;
  readonly to: "bucket" | "folder";
  readonly deletes: boolean;
  /** Whether files and objects of the same size count as equal. */
  readonly sizeOnly: boolean;
  /** Chooses names below the folder and the prefix; others are neither copied nor deleted. */
  readonly filter?: NameFilter | undefined;
  /** Whether each file is read again after its upload and compared with the stored object. */
  readonly verifies?: boolean;
}

export type TransferEvent =
  /** The key was copied, or would be copied in a dry run. */
  | { readonly kind: "copy"; readonly key: Key; readonly size: number }
  | { readonly kind: "delete"; readonly key: Key }
  | { readonly kind: "passed"; readonly key: Key; readonly why: string }
  | { readonly kind: "failed"; readonly key: Key; readonly error: unknown };

export interface SyncCounts {
  copied: number;
  bytes: number;
  same: number;
  deleted: number;
  passed: number;
  failed: number;
}

export function newSyncCounts(): SyncCounts {
  return { copied: 0, bytes: 0, same: 0, deleted: 0, passed: 0, failed: 0 };
}

export interface BucketEntry {
  readonly key: Key;
  readonly record: ObjectRecord;
}

export interface SyncPair {
  readonly key: Key;
  readonly file: { readonly path: string } | undefined;
  readonly record: ObjectRecord | undefined;
}

/** The side that the sync writes to. */
export interface SyncTarget {
  /** Returns the bytes copied, or to copy in a dry run; undefined when both sides are equal. */
  copy(pair: SyncPair): Promise<number | undefined>;
  remove(key: Key): Promise<void>;
  /** Removes emptied folders whose names are needed for files. */
  prune(): Promise<void>;
  finish(): Promise<void>;
}

const concurrency = 8;

export async function sync(options: SyncOptions, counts: SyncCounts): Promise<void> {
  const target = options.to === "bucket" ? createBucketTarget(options) : createFolderTarget(options);
  /** Files that wait until a folder of the same name is removed. */
  const waiting: SyncPair[] = [];

  async function copy(pair: SyncPair): Promise<void> {
    const size = await target.copy(pair);
    if (size === undefined) {
      counts.same++;
      return;
    }
    counts.copied++;
    counts.bytes += size;
    await options.onEvent({ kind: "copy", key: pair.key, size });
  }

  async function catchFailure(key: Key, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      options.signal.throwIfAborted();
      if (isFatal(error)) throw error;
      counts.failed++;
      await options.onEvent({ kind: "failed", key, error });
    }
  }

  const pairs = selectPairs(options, counts, async (key) => {
    await catchFailure(key, async () => {
      await target.remove(key);
      counts.deleted++;
      await options.onEvent({ kind: "delete", key });
    });
  });
  try {
    await forEachLimit(pairs, { concurrency, signal: options.signal }, (pair) =>
      catchFailure(pair.key, async () => {
        try {
          await copy(pair);
        } catch (error) {
          if (!(error instanceof FolderInTheWay) || !options.deletes) throw error;
          waiting.push(pair);
        }
      }),
    );
    await target.prune();
    for (const pair of waiting) await catchFailure(pair.key, () => copy(pair));
  } finally {
    await target.finish();
  }
}

/** Whether the error would occur for every other key too. */
export function isFatal(error: unknown): boolean {
  if (error instanceof StoreError) {
    return ["InsufficientStorage", "QuotaExceeded", "ServiceUnavailable", "NoSuchBucket"].includes(
      error.reason,
    );
  }
  const cause = error instanceof Error ? error.cause : undefined;
  return ["ENOSPC", "EDQUOT", "EROFS", "EIO"].includes(systemCode(cause ?? error) ?? "");
}

/** Yields pairs to compare. Removes keys that exist only in the target. */
async function* selectPairs(
  options: SyncOptions,
  counts: SyncCounts,
  remove: (key: Key) => Promise<void>,
): AsyncGenerator<SyncPair> {
  const protectedKeys = createProtectedKeys();
  async function reportSkipped(event: TransferEvent): Promise<void> {
    if (event.kind === "failed") counts.failed++;
    else counts.passed++;
    await options.onEvent(event);
  }
  for await (const { key, folder, bucket } of joinSides(options)) {
    if (options.filter?.(key.slice(options.prefix.length)) === false) continue;
    if (folder !== undefined && folder.kind !== "file") {
      protectedKeys.add(key);
      const isInTheWay = folder.kind === "passed" && options.to === "folder" && bucket !== undefined;
      await reportSkipped(
        isInTheWay ? toFailedEvent(key, `It was not replaced in the folder: ${folder.why}.`) : folder,
      );
      continue;
    }
    const isInSource = (options.to === "bucket" ? folder : bucket) !== undefined;
    if (bucket !== undefined && isFolderMark(bucket.record)) continue;
    if (isInSource) {
      const problem = options.to === "folder" ? nameProblem(key.slice(options.prefix.length)) : undefined;
      if (problem === undefined) yield { key, file: folder, record: bucket?.record };
      else await reportSkipped(toFailedEvent(key, `The key is not a valid file path: ${problem}.`));
    } else if (options.deletes && !protectedKeys.has(key)) await remove(key);
  }
}

function toFailedEvent(key: Key, why: string): TransferEvent {
  return { kind: "failed", key, error: new CommandError(why) };
}

interface Sides {
  readonly key: Key;
  readonly folder: FolderEntry | undefined;
  readonly bucket: BucketEntry | undefined;
}

async function* joinSides(options: SyncOptions): AsyncGenerator<Sides> {
  const pairs: AsyncIterable<JoinedPair<FolderEntry, BucketEntry>> = mergeJoin(
    walkFolder(options),
    listObjects(options),
  );
  for await (const { key, source, target } of pairs) yield { key, folder: source, bucket: target };
}

export async function* listObjects(
  options: Pick<SyncOptions, "engine" | "bucket" | "prefix">,
): AsyncGenerator<BucketEntry> {
  const { engine, bucket, prefix } = options;
  let cursor: string | undefined;
  do {
    const page = await engine.list(bucket, { prefix, cursor });
    for (const record of page.objects) yield { key: record.key, record };
    cursor = page.cursor;
  } while (cursor !== undefined);
}

/** Protects keys below skipped and unreadable folders from deletion. Must be used in key order. */
function createProtectedKeys() {
  let below: string[] = [];
  return {
    add(key: Key): void {
      below.push(key);
    },
    has(key: Key): boolean {
      // "0" is the character after "/", so no key from `${name}0` on is below the folder `name`.
      below = below.filter((name) => name === "" || compareKeys(key, `${name}0`) < 0);
      return below.some((name) => name === "" || key.startsWith(`${name}/`));
    },
  };
}
