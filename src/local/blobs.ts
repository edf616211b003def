// Blobs as files under random names: one each, or, of middle size, many in a segment. A file is made under its final
// name, synced, and its folder synced, before any record may name it; nothing is ever renamed.
import { rmdir, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Blobs, StagedBlob } from "../engine/blobs.ts";
import { limits } from "../model/limits.ts";
import { createFolders, type Folders, type Slot } from "./bytes/blob-folders.ts";
import { checksumSeed, storedBytes, writeBlockFile } from "./bytes/block-writer.ts";
import { createCompaction } from "./bytes/compaction.ts";
import { missing, openGroup, openOne } from "./bytes/open-blob.ts";
import { createMoves } from "./bytes/relocate.ts";
import {
  createGathering,
  createGroupMemory,
  type Gathering,
  type SegmentSizes,
  usualSegments,
} from "./bytes/segment-writer.ts";
import type { WireChange } from "./commit/change.ts";
import { isMissing, writeError } from "./disk/errors.ts";
import { syncDirectory } from "./disk/fsync-directory.ts";
import { blobId, blobPath, bucketPaths, isInSegment, type Layout, placeOf } from "./disk/layout.ts";
import { createLeastRecent } from "./disk/lru.ts";
import type { LocalFigures } from "./disk/metrics.ts";
import { clearAbsent, isPresent, type Presence } from "./disk/process-lock.ts";
import { clearPartial, createReserve } from "./disk/space-reserve.ts";
import type { Fence } from "./disk/write-fence.ts";
import type { Buckets } from "./index/bucket-handles.ts";
import { createPins } from "./recovery/pins.ts";
import { filesIn, recoverBucket } from "./recovery/recover.ts";
import { clearTrash } from "./recovery/trash.ts";

export interface LocalBlobsOptions {
  readonly layout: Layout;
  readonly buckets: Buckets;
  readonly fence: Fence;
  readonly presence: Presence;
  readonly sizes: Sizes;
  readonly figures: Pick<LocalFigures, "bodySync">;
  readonly commit: (bucketId: string, change: WireChange) => Promise<unknown>;
}

/** The units of what lies on disk. A directory is read with those it was written with. */
export interface Sizes {
  readonly blockBytes: number;
  /** Few enough that recovery is quick and a directory stays small. */
  readonly folderFiles: number;
  /** Without them every body has a file of its own. */
  readonly segments?: SegmentSizes;
}

export const usualSizes: Sizes = {
  blockBytes: limits.blockBytes,
  folderFiles: 1024,
  segments: usualSegments,
};

/** So many buckets have a segment open for new bodies. */
const mostGatherings = 64;

export function createLocalBlobs(options: LocalBlobsOptions): Blobs {
  const { layout, buckets, fence, presence, figures } = options;
  const { blockBytes, folderFiles } = options.sizes;
  const folders = new Map<string, Folders>();
  const pins = createPins(presence.name);
  const place = { layout, blockBytes };
  const memory = createGroupMemory();
  /** Processes that recovery has found dead. */
  let deaths = 0;
  const gatherings = createLeastRecent(
    mostGatherings,
    (bucketId) =>
      createGathering({
        ...{ bucketId, paths: bucketPaths(layout, bucketId), processName: presence.name },
        ...{ blockBytes, sizes: options.sizes.segments!, memory, fence, figures },
        onTaken: (bytes) => compaction.noteWritten(bucketId, bytes),
      }),
    (gathering: Gathering) => void gathering.rest(),
  );
  const compaction = createCompaction({
    ...{ layout, buckets },
    storedBytes: (size) => storedBytes(size, blockBytes),
    fileBytes: (options.sizes.segments ?? usualSegments).fileBytes,
    isHeld: (paths) => pins.isHeld(paths.pins),
    openGathering: gatherings.peek,
    processName: presence.name,
    moves: createMoves({ blockBytes, gathering: gatherings.get, commit: options.commit }),
    reserve: createReserve(layout.reserve, presence.name),
  });

  function foldersOf(bucketId: string): Folders {
    const found =
      folders.get(bucketId) ?? createFolders(bucketPaths(layout, bucketId), presence.name, folderFiles);
    folders.set(bucketId, found);
    return found;
  }

  function knows(bucket: string, blob: string): boolean {
    return buckets.read(
      bucket,
      (queries) => queries.knowsBlob(blob),
      () => false,
    );
  }

  /** Removes what processes that are gone have left; how many blobs. */
  function recoverAll(): number {
    const isGone = memoized((name: string) => name !== presence.name && !isPresent(layout.processes, name));
    let removed = 0;
    for (const { name, id } of buckets.all("sound")) {
      // The database is only opened for a bucket in which somebody has left something.
      const knowsBlob = (blob: string) => buckets.open(name).queries.knowsBlob(blob);
      const hasBlobsIn = (segment: string) => buckets.open(name).queries.hasBlobsIn(id, segment);
      const inherit = (segment: string) => compaction.inherit(id, segment);
      const paths = bucketPaths(layout, id);
      const heir = presence.name;
      removed += recoverBucket({ bucketId: id, paths, isGone, knowsBlob, hasBlobsIn, heir, inherit });
    }
    clearPartial(layout.reserve, isGone);
    clearTrash(layout, isGone);
    deaths += clearAbsent(layout.processes);
    return removed;
  }

  return {
    async stage(bucket, chunks) {
      fence.check();
      const { id } = buckets.open(bucket).bucket;
      let slot: Slot | undefined;
      try {
        slot = await foldersOf(id).takeSlot();
        const blob = blobId({ bucketId: id, ...slot.place });
        const size = await writeBlockFile(slot.path, chunks, {
          seed: checksumSeed(blob),
          blockBytes,
          onSynced: figures.bodySync.observe,
        });
        await slot.sync();
        return staged(blob, size, slot);
      } catch (error) {
        // A file that cannot be removed now stays unsettled, for recovery to find; the first error counts.
        if (slot !== undefined) await discard(slot).catch(() => {});
        throw writeError(error, fence);
      }
    },

    ...(options.sizes.segments === undefined
      ? {}
      : {
          gathered: {
            mostBytes: options.sizes.segments.bodyBytes,
            async stage(bucket, size, fill) {
              fence.check();
              const { id } = buckets.open(bucket).bucket;
              const pace = compaction.keepPace(id, size);
              if (pace !== undefined) await pace;
              return gatherings.get(id).take(size, fill);
            },
          },
        }),

    async open(bucket, blobs, stillNamed) {
      if (blobs.length > 1) return openGroup(place, pins, blobs, stillNamed);
      const blob = blobs[0]!;
      const reader = await openOne(place, blob);
      if (reader !== undefined) return reader;
      // Removed after its record went, it is only gone; with its record still there, it is lost, or was moved.
      if (!(await stillNamed())) return undefined;
      if (isInSegment(blob.id) && !knows(bucket, blob.id)) return undefined;
      throw missing(blob);
    },

    async remove(_bucket, blobs) {
      fence.check();
      const first = blobs[0];
      if (first === undefined) return true;
      if (pins.isPinned(bucketPaths(layout, placeOf(first).bucketId).pins, first)) return false;
      for (const id of blobs) if (isInSegment(id)) compaction.note(id);
      const paths = blobs.filter((id) => !isInSegment(id)).map((id) => blobPath(layout, placeOf(id)));
      for (const path of paths) await ignoreMissing(unlink(path));
      // The removal must last before the records forget the blobs, else a power cut leaves files nobody knows.
      for (const directory of new Set(paths.map((path) => dirname(path)))) {
        await ignoreMissing(syncDirectory(directory)).catch((error: unknown) => {
          throw writeError(error, fence);
        });
        await removeIfEmpty(directory, bucketPaths(layout, placeOf(first).bucketId).open);
      }
      return true;
    },

    hasFoundDeath: () => deaths > 0,

    reclaim: (bucket, which) => compaction.run(bucket, which),

    isHeld: (bucket) => pins.isHeld(bucketPaths(layout, buckets.open(bucket).bucket.id).pins),

    async recover() {
      try {
        return recoverAll();
      } catch (error) {
        // What is missing here went with its bucket, or with another process that recovers.
        throw isMissing(error) ? error : writeError(error, fence);
      }
    },

    async *all(bucket, which = "all") {
      const { id: bucketId } = buckets.open(bucket).bucket;
      const { blobs, segments, open: markers } = bucketPaths(layout, bucketId);
      for (const folder of filesIn(blobs)) {
        if (which === "settled" && filesIn(markers).some((marker) => marker.startsWith(folder))) continue;
        for (const file of filesIn(join(blobs, folder))) yield blobId({ bucketId, folder, file });
      }
      // What else is in them is room for others, once it is worth it.
      for (const segment of filesIn(segments)) {
        for (const { id } of buckets.open(bucket).queries.blobsIn(bucketId, segment)) yield id;
      }
    },

    async close() {
      for (const open of folders.values()) open.close();
      await Promise.all(gatherings.values().map((gathering) => gathering.rest()));
      presence.close();
    },
  };
}

function staged(id: string, size: number, slot: Slot): StagedBlob {
  return { id, size, keep: slot.settle, discard: () => discard(slot) };
}

async function discard(slot: Slot): Promise<void> {
  await ignoreMissing(unlink(slot.path));
  slot.settle();
}

function memoized<T>(ask: (name: string) => T): (name: string) => T {
  const answers = new Map<string, T>();
  return (name) => {
    const known = answers.get(name);
    if (known !== undefined) return known;
    const answer = ask(name);
    answers.set(name, answer);
    return answer;
  };
}

/** A folder that nobody writes into any more goes with its last file. */
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
