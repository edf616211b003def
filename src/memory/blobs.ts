// Blobs in memory. A reader holds the bytes themselves, so removal never disturbs it; groups are held
// back all the same, because the port promises that and the tests model it here.
import type { BlobReader, Blobs } from "../engine/blobs.ts";
import { StoreError } from "../model/errors.ts";

export function createMemoryBlobs(): Blobs {
  const buckets = new Map<string, Map<string, Uint8Array>>();
  const held = new Map<string, number>();
  let next = 1;

  function blobsOf(bucket: string): Map<string, Uint8Array> {
    const blobs = buckets.get(bucket) ?? new Map<string, Uint8Array>();
    buckets.set(bucket, blobs);
    return blobs;
  }

  return {
    async stage(bucket, chunks) {
      const pieces: Uint8Array[] = [];
      for await (const chunk of chunks) pieces.push(new Uint8Array(chunk));
      const id = `m${next++}`;
      const bytes = Buffer.concat(pieces);
      blobsOf(bucket).set(id, bytes);
      return {
        id,
        size: bytes.length,
        keep() {},
        async discard() {
          blobsOf(bucket).delete(id);
        },
      };
    },

    async open(bucket, blobs, stillNamed) {
      const first = blobs[0]?.id ?? "";
      held.set(first, (held.get(first) ?? 0) + 1);
      const opened = new Map(blobs.map(({ id }) => [id, blobsOf(bucket).get(id)]));
      const reader = readerOf(opened, () => {
        const left = held.get(first)! - 1;
        if (left > 0) held.set(first, left);
        else held.delete(first);
      });
      let isNamed = false;
      try {
        isNamed = await stillNamed();
        if (isNamed && [...opened.values()].includes(undefined)) throw new StoreError("InternalError");
      } finally {
        if (!isNamed) await reader.close();
      }
      return isNamed ? reader : undefined;
    },

    async remove(bucket, blobs) {
      if (blobs.length > 1 && held.has(blobs[0]!)) return false;
      for (const id of blobs) blobsOf(bucket).delete(id);
      return true;
    },

    async recover() {
      return 0;
    },
    async *all(bucket) {
      yield* [...blobsOf(bucket).keys()];
    },
    async close() {},
  };
}

function readerOf(opened: Map<string, Uint8Array | undefined>, release: () => void): BlobReader {
  let closed = false;
  return {
    async *read({ id }, { offset, length }) {
      const bytes = opened.get(id);
      if (bytes === undefined) throw new StoreError("InternalError");
      yield new Uint8Array(bytes.subarray(offset, offset + length));
    },
    async close() {
      if (!closed) release();
      closed = true;
    },
  };
}
