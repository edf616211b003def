// Moves live bodies out of a segment into the segment being written. A move has no effect if no
// version has the body by the time of the commit, so concurrent overwrites and deletes win.
import { Buffer } from "node:buffer";
import { closeSync, openSync } from "node:fs";
import { isOutcomeUnknown } from "../../model/errors.ts";
import { moveBodyChange, type WireChange } from "../commit/change.ts";
import { blobOffset, parseBlobId, segmentBlobSize } from "../disk/layout.ts";
import type { SegmentBlob } from "../index/queries/segment-queries.ts";
import { readBlockFile } from "./block-reader.ts";
import { checksumSeed } from "./block-writer.ts";
import type { SegmentWriter } from "./segment-writer.ts";

export interface Relocator {
  /** Moves the blobs for which `isBody` returns true just before the move. */
  moveAll(
    bucketId: string,
    path: string,
    living: readonly SegmentBlob[],
    isBody: (blob: SegmentBlob) => boolean,
  ): Promise<void>;
}

export interface RelocatorOptions {
  readonly blockBytes: number;
  readonly getWriter: (bucketId: string) => SegmentWriter;
  readonly commit: (bucketId: string, change: WireChange) => Promise<unknown>;
}

/** Bytes moved in one write and commit: half of a group's buffer. The rest is for new bodies. */
const batchBytes = 2 * 1024 * 1024;

export function createRelocator({ blockBytes, getWriter, commit }: RelocatorOptions): Relocator {
  async function move(bucketId: string, descriptor: number, { id, key }: SegmentBlob): Promise<void> {
    const bytes = await readWholeBody(descriptor, id);
    const staged = await getWriter(bucketId).stage(bytes.length, (target) => target.set(bytes));
    // Other writers use all buffers: leave this body to a later run.
    if (staged === undefined) return;
    try {
      await commit(bucketId, moveBodyChange(key!, id, staged.id));
      staged.keep();
    } catch (error) {
      // If the outcome is unknown, keep the bytes: the move may have been committed.
      if (!isOutcomeUnknown(error)) await staged.discard();
      throw error;
    }
  }

  async function readWholeBody(descriptor: number, id: string): Promise<Uint8Array> {
    const location = parseBlobId(id);
    const size = segmentBlobSize(location);
    const file = { descriptor, start: blobOffset(location), size, blockBytes, name: `blob ${id}` };
    const whole = Buffer.allocUnsafe(size);
    let filled = 0;
    const range = { offset: 0, length: size };
    for await (const chunk of readBlockFile({ ...file, seed: checksumSeed(id), spare: [] }, range)) {
      whole.set(chunk, filled);
      filled += chunk.length;
    }
    return whole;
  }

  return {
    async moveAll(bucketId, path, living, isBody) {
      const descriptor = openSync(path, "r");
      try {
        for (const batch of inBatches(living)) {
          const moved = batch.filter(isBody).map((blob) => move(bucketId, descriptor, blob));
          // No read may be in flight when the descriptor is closed.
          const failed = (await Promise.allSettled(moved)).find(({ status }) => status === "rejected");
          if (failed !== undefined) throw (failed as PromiseRejectedResult).reason;
        }
      } finally {
        closeSync(descriptor);
      }
    },
  };
}

function* inBatches(blobs: readonly SegmentBlob[]): Generator<SegmentBlob[]> {
  let batch: SegmentBlob[] = [];
  let bytes = 0;
  for (const blob of blobs) {
    batch.push(blob);
    bytes += segmentBlobSize(parseBlobId(blob.id));
    if (bytes < batchBytes) continue;
    yield batch;
    batch = [];
    bytes = 0;
  }
  yield batch;
}
