// The large bucket that is opened after every kill: filled once. Small objects go straight to the records, a
// thousand in each commit, and one in a hundred is put like any other, as a file of its own.
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
/** Puts of files that wait for each other's syncs. */
const lanes = 64;

/** In the order of the index, so that filling is quick. */
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
      if (from % 100_000 === 0) say(`${from + count} objects are there`);
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
