// Prepares the large store once. The sections list, memory and churn use it.
import { mkdirSync } from "node:fs";
import { openStore } from "../src/index.ts";
import { forEach } from "./measure.ts";
import { KiB } from "./section.ts";

export interface LargeStore {
  readonly directory: string;
  readonly bucket: string;
  readonly objects: number;
  /** Number of folders (key prefixes). */
  readonly folders: number;
  key(index: number): string;
}

const lanes = 256;

export async function prepareLargeStore(
  directory: string,
  objects: number,
  progress: (text: string) => void,
): Promise<LargeStore> {
  const large = { directory, bucket: "large", objects, folders: 10, key: keysInFolders(10, objects) };
  mkdirSync(directory);
  const store = await openStore(directory);
  await store.createBucket(large.bucket);
  const bucket = store.bucket(large.bucket);
  const body = Buffer.alloc(KiB, 1);
  await forEach(objects, lanes, async (index) => {
    if (index % 10_000 === 0) {
      progress(`${index.toLocaleString("en")} of ${objects.toLocaleString("en")} objects prepared`);
    }
    await bucket.put(large.key(index), body);
  });
  await store.close();
  return large;
}

/** Returns a function from index to key. Keys have equal length and fill the folders evenly. */
export function keysInFolders(folders: number, objects: number): (index: number) => string {
  const each = objects / folders;
  return (index) =>
    `folder-${String(Math.floor(index / each)).padStart(2, "0")}/${String(index % each).padStart(8, "0")}`;
}
