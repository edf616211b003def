// Fills the large bucket that is opened after every kill. Small objects are written directly to the
// records, a thousand per commit; one in a hundred is put normally, as a file.
import { createHash } from "node:crypto";
import type { Mutation } from "../../../src/engine/records.ts";
import { openStore } from "../../../src/index.ts";
import { openLocal } from "../../../src/local/open.ts";
import { bytesOf, KiB } from "../../support/bodies.ts";
import { objectRecord } from "../../support/samples.ts";

export const largeBucket = "large";

const objectsOfCommit = 1000;
const smallBytes = 100;
const fileBytes = 5 * KiB;
/** Number of concurrent puts. Concurrent puts share syncs, so the bucket is filled faster. */
const lanes = 64;

/** Returns the key of an index. Keys sort like their indexes, which makes filling fast. */
export function keyOf(index: number): string {
  return `folder ${String(Math.floor(index / 10_000)).padStart(4, "0")}/${String(index).padStart(8, "0")}`;
}

export async function fillStore(directory: string, objects: number, say: (line: string) => void) {
  const store = await openStore(directory);
  try {
    await store.createBucket(largeBucket);
    await fillRecords(directory, objects, say);
    const bucket = store.bucket(largeBucket);
    let next = 0;
    async function putFiles(): Promise<void> {
      while (next < objects) {
        const key = keyOf(next);
        next += 100;
        await bucket.put(key, bytesOf(key, { name: "first", size: fileBytes }));
      }
    }
    await Promise.all(Array.from({ length: lanes }, putFiles));
  } finally {
    await store.close();
  }
}

async function fillRecords(directory: string, objects: number, say: (line: string) => void): Promise<void> {
  const { records, blobs } = await openLocal(directory);
  try {
    for (let from = 0; from < objects; from += objectsOfCommit) {
      const count = Math.min(objectsOfCommit, objects - from);
      const mutations = Array.from({ length: count }, (_, i) => smallObject(keyOf(from + i)));
      await records.commit(largeBucket, { mutations });
      if (from % 100_000 === 0) say(`${from + count} objects written`);
    }
  } finally {
    await records.close();
    await blobs.close();
  }
}

function smallObject(key: string): Mutation {
  const bytes = bytesOf(key, { name: "first", size: smallBytes });
  const etag = createHash("md5").update(bytes).digest("hex");
  return {
    kind: "put object",
    record: objectRecord(key, { size: bytes.length, etag }),
    body: { storage: "inline", bytes },
  };
}
