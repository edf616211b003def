// Blobs as files, one each, under random names. A file is made under its final name, synced, and its folder
// synced, before any record may name it; nothing is ever renamed.
import { closeSync, open } from "node:fs";
import { rmdir, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import type { BlobReader, Blobs, StagedBlob, StoredBlob } from "../engine/blobs.ts";
import { StoreError } from "../model/errors.ts";
import { limits } from "../model/limits.ts";
import { keepSpare, readBlockFile, readers } from "./block-reader.ts";
import { checksumSeed, writeBlockFile } from "./block-writer.ts";
import type { Buckets } from "./buckets.ts";
import { syncDirectory } from "./directory-sync.ts";
import { isMissing, readError, writeError } from "./disk-errors.ts";
import type { Fence } from "./fence.ts";
import type { LocalFigures } from "./figures.ts";
import { createFolders, type Folders, type Slot } from "./folders.ts";
import {
  type BlobPlace,
  blobId,
  blobPath,
  bucketPaths,
  type Layout,
  placeOf,
  trashedBlobPath,
} from "./layout.ts";
import { createPins, type Pins } from "./pins.ts";
import { clearAbsent, isPresent, type Presence } from "./presence.ts";
import { filesIn, recoverBucket } from "./recover.ts";
import { clearPartial } from "./reserve.ts";
import { clearTrash } from "./trash.ts";

const openFile = promisify(open);

export interface LocalBlobsOptions {
  readonly layout: Layout;
  readonly buckets: Buckets;
  readonly fence: Fence;
  readonly presence: Presence;
  readonly sizes: Sizes;
  readonly figures: Pick<LocalFigures, "bodySync">;
}

/** The units of what lies on disk. A directory is read with those it was written with. */
export interface Sizes {
  readonly blockBytes: number;
  /** Few enough that recovery is quick and a directory stays small. */
  readonly folderFiles: number;
}

export const usualSizes: Sizes = { blockBytes: limits.blockBytes, folderFiles: 1024 };

export function createLocalBlobs(options: LocalBlobsOptions): Blobs {
  const { layout, buckets, fence, presence, figures } = options;
  const { blockBytes, folderFiles } = options.sizes;
  const folders = new Map<string, Folders>();
  const pins = createPins(presence.name);
  const place = { layout, blockBytes };

  function foldersOf(bucketId: string): Folders {
    const found =
      folders.get(bucketId) ?? createFolders(bucketPaths(layout, bucketId), presence.name, folderFiles);
    folders.set(bucketId, found);
    return found;
  }

  /** Removes what processes that are gone have left; how many blobs. */
  function recoverAll(): number {
    const isGone = memoized((name: string) => name !== presence.name && !isPresent(layout.processes, name));
    let removed = 0;
    for (const { name, id } of buckets.all("sound")) {
      // The database is only opened for a bucket in which somebody has left something.
      const knowsBlob = (blob: string) => buckets.open(name).queries.knowsBlob(blob);
      removed += recoverBucket({ bucketId: id, paths: bucketPaths(layout, id), isGone, knowsBlob });
    }
    clearPartial(layout.reserve, isGone);
    clearTrash(layout, isGone);
    clearAbsent(layout.processes);
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

    async open(_bucket, blobs, stillNamed) {
      if (blobs.length > 1) return openGroup(place, pins, blobs, stillNamed);
      const reader = await openOne(place, blobs[0]!);
      // Removed after its record went, it is only gone; with its record still there, it is lost.
      if (reader === undefined && (await stillNamed())) throw missing(blobs[0]!);
      return reader;
    },

    async remove(_bucket, blobs) {
      fence.check();
      const paths = blobs.map((id) => blobPath(layout, placeOf(id)));
      const first = blobs[0];
      if (first === undefined) return true;
      if (pins.isPinned(bucketPaths(layout, placeOf(first).bucketId).pins, first)) return false;
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
      const { blobs, open: markers } = bucketPaths(layout, bucketId);
      for (const folder of filesIn(blobs)) {
        if (which === "settled" && filesIn(markers).some((marker) => marker.startsWith(folder))) continue;
        for (const file of filesIn(join(blobs, folder))) yield blobId({ bucketId, folder, file });
      }
    },

    async close() {
      for (const open of folders.values()) open.close();
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

interface Place {
  readonly layout: Layout;
  readonly blockBytes: number;
}

async function openOne({ layout, blockBytes }: Place, blob: StoredBlob): Promise<BlobReader | undefined> {
  const descriptor = await openDescriptor(layout, placeOf(blob.id));
  if (descriptor === undefined) return undefined;
  let state: "unread" | "reading" | "closed" = "unread";
  const spare: Uint8Array[] = [];
  return {
    release: (chunk) => keepSpare(spare, chunk, blockBytes),
    read({ id, size }, range, into) {
      if (state === "unread") readers.active++;
      state = "reading";
      return readBlockFile(
        { descriptor, size, blockBytes, name: `blob ${id}`, seed: checksumSeed(id), spare },
        range,
        into,
      );
    },
    async close() {
      if (state === "closed") return;
      if (state === "reading") readers.active--;
      state = "closed";
      // Closing a file that was only read waits for nothing.
      closeSync(descriptor);
    },
  };
}

/** Undefined when the file is not there, nor in the trash, where a deleted bucket waits for its readers. */
export async function openDescriptor(layout: Layout, place: BlobPlace): Promise<number | undefined> {
  for (const path of [blobPath(layout, place), trashedBlobPath(layout, place)]) {
    try {
      return await openFile(path, "r");
    } catch (error) {
      if (!isMissing(error)) throw readError(error);
    }
  }
  return undefined;
}

function missing({ id }: StoredBlob): StoreError {
  return new StoreError("InternalError", { detail: `The stored data is damaged: blob ${id} is missing.` });
}

async function openGroup(
  place: Place,
  pins: Pins,
  blobs: readonly StoredBlob[],
  stillNamed: () => Promise<boolean>,
): Promise<BlobReader | undefined> {
  const first = blobs[0]!;
  const release = pins.pin(place.layout, first.id);
  try {
    // Asked behind the pin: whoever buries these blobs after this sees it before removing them.
    if (!(await stillNamed())) {
      release();
      return undefined;
    }
  } catch (error) {
    release();
    throw error;
  }
  let current: BlobReader | undefined;
  return {
    async *read(blob, range, into) {
      const reader = await openOne(place, blob);
      if (reader === undefined) throw missing(blob);
      current = reader;
      try {
        yield* reader.read(blob, range, into);
      } finally {
        await reader.close();
      }
    },
    release: (chunk) => current?.release?.(chunk),
    async close() {
      // Of a body dropped half read nobody runs the end of the generator above.
      await current?.close();
      release();
    },
  };
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
