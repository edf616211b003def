// Opens bodies for reading: a file, a range of a segment, or one file after another for parts.
import { closeSync, open } from "node:fs";
import { promisify } from "node:util";
import type { BlobReader, StoredBlob } from "../../engine/blobs.ts";
import { StoreError } from "../../model/errors.ts";
import { isMissing, readError } from "../disk/errors.ts";
import {
  type BlobLocation,
  blobOffset,
  blobPath,
  isSegmentFile,
  type Layout,
  parseBlobId,
  trashedBlobPath,
} from "../disk/layout.ts";
import type { Pins } from "../recovery/pins.ts";
import { keepSpare, readBlockFile, readers } from "./block-reader.ts";
import { checksumSeed } from "./block-writer.ts";
import type { OpenSegment, SegmentFiles } from "./segment-files.ts";

const openFile = promisify(open);

/** Where blobs are stored, and their block size. */
export interface BlobStorage {
  readonly layout: Layout;
  readonly blockBytes: number;
  readonly segmentFiles: SegmentFiles;
}

export async function openBlob(storage: BlobStorage, blob: StoredBlob): Promise<BlobReader | undefined> {
  const { blockBytes } = storage;
  const location = parseBlobId(blob.id);
  const file = await openFileOf(storage, location);
  if (file === undefined) return undefined;
  const { descriptor } = file;
  const start = blobOffset(location);
  let state: "unread" | "reading" | "closed" = "unread";
  const spare: Uint8Array[] = [];
  return {
    release: (chunk) => keepSpare(spare, chunk, blockBytes),
    read({ id, size }, range, into) {
      if (state === "unread") readers.active++;
      state = "reading";
      return readBlockFile(
        { descriptor, start, size, blockBytes, name: `blob ${id}`, seed: checksumSeed(id), spare },
        range,
        into,
      );
    },
    async close() {
      if (state === "closed") return;
      if (state === "reading") readers.active--;
      state = "closed";
      file.release();
    },
  };
}

/** Opens the blob's file for one reader. */
async function openFileOf(
  { layout, segmentFiles }: BlobStorage,
  location: BlobLocation,
): Promise<OpenSegment | undefined> {
  if (isSegmentFile(location.file))
    return segmentFiles.acquire(location.folder, () => openDescriptor(layout, location));
  const descriptor = await openDescriptor(layout, location);
  // Closing a file that was only read does not block.
  return descriptor === undefined ? undefined : { descriptor, release: () => closeSync(descriptor) };
}

/** Opens a blob's file in its bucket, or in the trash if the bucket was deleted. */
export async function openDescriptor(layout: Layout, location: BlobLocation): Promise<number | undefined> {
  for (const path of [blobPath(layout, location), trashedBlobPath(layout, location)]) {
    try {
      return await openFile(path, "r");
    } catch (error) {
      if (!isMissing(error)) throw readError(error);
    }
  }
  return undefined;
}

export function missingBlobError({ id }: StoredBlob): StoreError {
  return new StoreError("Damaged", { detail: `The stored data is damaged: blob ${id} is missing.` });
}

/**
 * Opens both files at once, so that they need no pin: creating and removing one takes longer. A
 * missing blob is reported when it is read. Returns undefined if the blobs are not referenced.
 */
export async function openTwo(
  storage: BlobStorage,
  blobs: readonly [StoredBlob, StoredBlob],
  isReferenced: () => Promise<boolean>,
): Promise<BlobReader | undefined> {
  const readers: (BlobReader | undefined)[] = [];
  const close = async () => {
    for (const reader of readers) await reader?.close();
  };
  try {
    for (const blob of blobs) readers.push(await openBlob(storage, blob));
    if (readers.includes(undefined) && !(await isReferenced())) {
      await close();
      return undefined;
    }
  } catch (error) {
    await close();
    throw error;
  }
  let current: BlobReader | undefined;
  return {
    read(blob, range, into) {
      current = readers[blobs.findIndex(({ id }) => id === blob.id)];
      if (current === undefined) throw missingBlobError(blob);
      return current.read(blob, range, into);
    },
    release: (chunk) => current?.release?.(chunk),
    close,
  };
}

export async function openParts(
  storage: BlobStorage,
  pins: Pins,
  blobs: readonly StoredBlob[],
  isReferenced: () => Promise<boolean>,
): Promise<BlobReader | undefined> {
  const first = blobs[0]!;
  const release = pins.pin(storage.layout, first.id);
  try {
    // Checked after pinning, so that a removal that starts later sees the pin.
    if (!(await isReferenced())) {
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
      const reader = await openBlob(storage, blob);
      if (reader === undefined) throw missingBlobError(blob);
      current = reader;
      try {
        yield* reader.read(blob, range, into);
      } finally {
        await reader.close();
      }
    },
    release: (chunk) => current?.release?.(chunk),
    async close() {
      // A generator that is abandoned before its end does not run its `finally`, so close the file
      // here.
      await current?.close();
      release();
    },
  };
}
