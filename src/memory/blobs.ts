// Blobs in memory. A reader keeps the bytes, so a removal never affects it. Bodies of several blobs
// are still not removed while they are read, because the port requires it and tests check it here.
import { Buffer } from "node:buffer";
import type { BlobReader, Blobs } from "../engine/blobs.ts";
import { StoreError } from "../model/errors.ts";

export function createMemoryBlobs(): Blobs {
  const buckets = new Map<string, Map<string, Uint8Array>>();
  const readRefs = new Map<string, number>();
  let next = 1;

  function bucketBlobs(bucket: string): Map<string, Uint8Array> {
    const blobs = buckets.get(bucket) ?? new Map<string, Uint8Array>();
    buckets.set(bucket, blobs);
    return blobs;
  }

  return {
    async stage(bucket, chunks) {
      const copies: Uint8Array[] = [];
      for await (const chunk of chunks) copies.push(new Uint8Array(chunk));
      const id = `m${next++}`;
      const bytes = Buffer.concat(copies);
      bucketBlobs(bucket).set(id, bytes);
      return {
        id,
        size: bytes.length,
        keep() {},
        async discard() {
          bucketBlobs(bucket).delete(id);
        },
      };
    },

    async open(bucket, blobs, isReferenced) {
      const first = blobs[0]?.id ?? "";
      readRefs.set(first, (readRefs.get(first) ?? 0) + 1);
      const opened = new Map(blobs.map(({ id }) => [id, bucketBlobs(bucket).get(id)]));
      const reader = createReader(opened, () => {
        const left = readRefs.get(first)! - 1;
        if (left > 0) readRefs.set(first, left);
        else readRefs.delete(first);
      });
      let referenced = false;
      try {
        referenced = await isReferenced();
        if (referenced && [...opened.values()].includes(undefined)) throw new StoreError("Damaged");
      } finally {
        if (!referenced) await reader.close();
      }
      return referenced ? reader : undefined;
    },

    async remove(bucket, blobs) {
      if (blobs.length > 1 && readRefs.has(blobs[0]!)) return false;
      for (const id of blobs) bucketBlobs(bucket).delete(id);
      return true;
    },

    async recover() {
      return 0;
    },
    async *all(bucket) {
      yield* [...bucketBlobs(bucket).keys()];
    },
    async close() {},
  };
}

function createReader(opened: Map<string, Uint8Array | undefined>, release: () => void): BlobReader {
  let closed = false;
  return {
    async *read({ id }, { offset, length }) {
      const bytes = opened.get(id);
      if (bytes === undefined) throw new StoreError("Damaged");
      yield new Uint8Array(bytes.subarray(offset, offset + length));
    },
    async close() {
      if (!closed) release();
      closed = true;
    },
  };
}
