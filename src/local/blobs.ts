// The Blobs port on files with random names: one file per body, or, for medium-sized bodies, many
// bodies in a segment. File and folder are synced before a record references the blob.
import { rmdir, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setImmediate } from "node:timers";
import type { Blobs, StagedBlob, StoredBlob } from "../engine/blobs.ts";
import { limits } from "../model/limits.ts";
import { createFolders, type Folders, type Slot } from "./bytes/blob-folders.ts";
import { checksumSeed, storedBytes, writeBlockFile } from "./bytes/block-writer.ts";
import { createCompaction } from "./bytes/compaction.ts";
import { missingBlobError, openBlob, openParts, openTwo } from "./bytes/open-blob.ts";
import { createRelocator } from "./bytes/relocate.ts";
import { createSegmentFiles } from "./bytes/segment-files.ts";
import {
  createGroupMemory,
  createSegmentWriter,
  defaultSegmentSizes,
  type SegmentSizes,
  type SegmentWriter,
} from "./bytes/segment-writer.ts";
import type { WireChange } from "./commit/change.ts";
import { isMissing, writeError } from "./disk/errors.ts";
import { syncDirectory } from "./disk/fsync-directory.ts";
import { blobId, blobPath, bucketPaths, isInSegment, type Layout, parseBlobId } from "./disk/layout.ts";
import { createLru } from "./disk/lru.ts";
import type { LocalMetrics } from "./disk/metrics.ts";
import { clearStaleLocks, hasStaleLock, isProcessAlive, type ProcessLock } from "./disk/process-lock.ts";
import { clearPartial, createReserve } from "./disk/space-reserve.ts";
import type { WriteStop } from "./disk/write-stop.ts";
import type { Buckets } from "./index/bucket-handles.ts";
import { settleBucketLog } from "./index/settle-log.ts";
import { createPins } from "./recovery/pins.ts";
import { filesIn, recoverBucket } from "./recovery/recover.ts";
import { clearTrash } from "./recovery/trash.ts";

export interface LocalBlobsOptions {
  readonly layout: Layout;
  readonly buckets: Buckets;
  readonly writeStop: WriteStop;
  readonly processLock: ProcessLock;
  readonly sizes: Sizes;
  readonly metrics: Pick<LocalMetrics, "bodySync">;
  readonly commit: (bucketId: string, change: WireChange) => Promise<unknown>;
}

/** Sizes on disk. A directory must be read with the block size with which it was written. */
export interface Sizes {
  readonly blockBytes: number;
  /** Maximum number of files in a folder. A small number keeps recovery quick. */
  readonly folderFiles: number;
  /** Undefined: every body is stored in a separate file. */
  readonly segments?: SegmentSizes;
}

export const defaultSizes: Sizes = {
  blockBytes: limits.blockBytes,
  folderFiles: 1024,
  segments: defaultSegmentSizes,
};

/** Buckets that recovery examines in one turn of the event loop. */
const bucketsPerTurn = 64;
/** Maximum number of buckets with an open segment for new bodies. */
const maxSegmentWriters = 64;

export function createLocalBlobs(options: LocalBlobsOptions): Blobs {
  const { layout, buckets, writeStop, processLock, metrics } = options;
  const { blockBytes, folderFiles } = options.sizes;
  const folders = new Map<string, Folders>();
  const pins = createPins(processLock.name);
  const segmentFiles = createSegmentFiles();
  const storage = { layout, blockBytes, segmentFiles };
  const groupMemory = createGroupMemory();
  /** Number of crashed processes that recovery has found. */
  let crashedProcesses = 0;
  const segmentWriters = createLru(
    maxSegmentWriters,
    (bucketId) =>
      createSegmentWriter({
        ...{ bucketId, paths: bucketPaths(layout, bucketId), processName: processLock.name },
        ...{ blockBytes, sizes: options.sizes.segments!, memory: groupMemory, writeStop, metrics },
        onStored: (bytes) => compaction.noteWritten(bucketId, bytes),
      }),
    (writer: SegmentWriter) => void writer.seal(),
  );
  const compaction = createCompaction({
    ...{ layout, buckets },
    storedBytes: (size) => storedBytes(size, blockBytes),
    fileBytes: (options.sizes.segments ?? defaultSegmentSizes).fileBytes,
    isLeased: (paths) => pins.isLeased(paths.pins),
    findWriter: segmentWriters.peek,
    processName: processLock.name,
    relocator: createRelocator({ blockBytes, getWriter: segmentWriters.get, commit: options.commit }),
    reserve: createReserve(layout.reserve, processLock.name),
    onRemoved: segmentFiles.drop,
  });

  function bucketFolders(bucketId: string): Folders {
    const found =
      folders.get(bucketId) ?? createFolders(bucketPaths(layout, bucketId), processLock.name, folderFiles);
    folders.set(bucketId, found);
    return found;
  }

  function referencesBlob(bucket: string, blob: string): boolean {
    return buckets.read(
      bucket,
      (queries) => queries.referencesBlob(blob),
      () => false,
    );
  }

  /** Removes orphaned files of dead processes. Returns the number of removed blobs. */
  async function recoverAll(): Promise<number> {
    const isGone = memoize(
      (name: string) => name !== processLock.name && !isProcessAlive(layout.processes, name),
    );
    const hasCrash = hasStaleLock(layout.processes);
    let removed = 0;
    for (const [index, { name, id }] of buckets.all("sound").entries()) {
      // Let requests run: a store may have 100,000 buckets.
      if (index % bucketsPerTurn === bucketsPerTurn - 1)
        await new Promise((resolve) => setImmediate(resolve));
      // Called only for buckets with markers of a dead process, so other buckets are not opened.
      const referencesBlob = (blob: string) => buckets.open(name).queries.referencesBlob(blob);
      const hasBlobsIn = (segment: string) => buckets.open(name).queries.hasBlobsIn(id, segment);
      const adopt = (segment: string) => compaction.adopt(id, segment);
      const paths = bucketPaths(layout, id);
      const ownProcess = processLock.name;
      removed += recoverBucket({
        bucketId: id,
        paths,
        isGone,
        settleLog: () => settleBucketLog(paths.database),
        hasCrash,
        referencesBlob,
        hasBlobsIn,
        ownProcess,
        adopt,
      });
    }
    clearPartial(layout.reserve, isGone);
    clearTrash(layout, isGone);
    crashedProcesses += clearStaleLocks(layout.processes);
    return removed;
  }

  return {
    async stage(bucket, chunks) {
      writeStop.check();
      const { id } = buckets.open(bucket).bucket;
      let slot: Slot | undefined;
      try {
        slot = await bucketFolders(id).takeSlot();
        const blob = blobId({ bucketId: id, ...slot.location });
        const size = await writeBlockFile(slot.path, chunks, {
          seed: checksumSeed(blob),
          blockBytes,
          onSynced: metrics.bodySync.observe,
        });
        await slot.sync();
        return toStagedBlob(blob, size, slot);
      } catch (error) {
        // A file that cannot be removed stays unsettled, so recovery removes it. Report the first
        // error.
        if (slot !== undefined) await discard(slot).catch(() => {});
        throw writeError(error, writeStop);
      }
    },

    ...(options.sizes.segments === undefined
      ? {}
      : {
          batched: {
            maxBytes: options.sizes.segments.bodyBytes,
            async stage(bucket, size, fill) {
              writeStop.check();
              const { id } = buckets.open(bucket).bucket;
              const wait = compaction.waitForSpace(id, size);
              if (wait !== undefined) await wait;
              return segmentWriters.get(id).stage(size, fill);
            },
          },
        }),

    async open(bucket, blobs, isReferenced) {
      const [blob, second] = blobs as readonly [StoredBlob, ...StoredBlob[]];
      if (blobs.length > 2) return openParts(storage, pins, blobs, isReferenced);
      if (second !== undefined) return openTwo(storage, [blob, second], isReferenced);
      const reader = await openBlob(storage, blob);
      if (reader !== undefined) return reader;
      // Return undefined if the blob was removed with its record or moved by compaction. Otherwise
      // the blob was lost.
      if (!(await isReferenced())) return undefined;
      if (isInSegment(blob.id) && !referencesBlob(bucket, blob.id)) return undefined;
      throw missingBlobError(blob);
    },

    async remove(_bucket, blobs) {
      writeStop.check();
      const first = blobs[0];
      if (first === undefined) return true;
      if (pins.isPinned(bucketPaths(layout, parseBlobId(first).bucketId).pins, first)) return false;
      for (const id of blobs) if (isInSegment(id)) compaction.noteRemoved(id);
      const paths = blobs.filter((id) => !isInSegment(id)).map((id) => blobPath(layout, parseBlobId(id)));
      for (const path of paths) await ignoreMissing(unlink(path));
      // The removal must be durable before the records drop the blobs; otherwise a crash leaves
      // orphans.
      for (const directory of new Set(paths.map((path) => dirname(path)))) {
        await ignoreMissing(syncDirectory(directory)).catch((error: unknown) => {
          throw writeError(error, writeStop);
        });
        await removeIfEmpty(directory, bucketPaths(layout, parseBlobId(first).bucketId).open);
      }
      return true;
    },

    hasFoundCrash: () => crashedProcesses > 0,

    reclaim: (bucket, which) => compaction.run(bucket, which),

    isLeased: (bucket) => pins.isLeased(bucketPaths(layout, buckets.open(bucket).bucket.id).pins),

    async recover() {
      try {
        return await recoverAll();
      } catch (error) {
        // A missing file is not a disk failure: its bucket was deleted, or another process removed
        // it first.
        throw isMissing(error) ? error : writeError(error, writeStop);
      }
    },

    async *all(bucket, which = "all") {
      const { id: bucketId } = buckets.open(bucket).bucket;
      const { blobs, segments, open: markers } = bucketPaths(layout, bucketId);
      for (const folder of filesIn(blobs)) {
        if (which === "settled" && filesIn(markers).some((marker) => marker.startsWith(folder))) continue;
        for (const file of filesIn(join(blobs, folder))) yield blobId({ bucketId, folder, file });
      }
      // List only referenced blobs of segments: compaction reclaims the other bytes.
      for (const segment of filesIn(segments)) {
        const blobs = buckets.read(
          bucket,
          (queries) => queries.blobsIn(bucketId, segment),
          () => false,
        );
        for (const { id } of blobs) yield id;
      }
    },

    async close() {
      for (const open of folders.values()) open.close();
      segmentFiles.close();
      await Promise.all(segmentWriters.values().map((writer) => writer.seal()));
      processLock.close();
    },
  };
}

function toStagedBlob(id: string, size: number, slot: Slot): StagedBlob {
  return { id, size, keep: slot.settle, discard: () => discard(slot) };
}

async function discard(slot: Slot): Promise<void> {
  await ignoreMissing(unlink(slot.path));
  slot.settle();
}

function memoize<T>(compute: (name: string) => T): (name: string) => T {
  const results = new Map<string, T>();
  return (name) => {
    const cached = results.get(name);
    if (cached !== undefined) return cached;
    const result = compute(name);
    results.set(name, result);
    return result;
  };
}

/** Removes an empty folder if no process writes into it. */
async function removeIfEmpty(directory: string, markers: string): Promise<void> {
  const folder = basename(directory);
  if (filesIn(markers).some((marker) => marker.startsWith(folder))) return;
  try {
    await rmdir(directory);
  } catch (error) {
    if (!isMissing(error) && (error as NodeJS.ErrnoException).code !== "ENOTEMPTY") throw error;
  }
}

async function ignoreMissing(work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}
