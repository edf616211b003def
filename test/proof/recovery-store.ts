// The large bucket that is opened after every kill: filled once, by puts of which hundreds share each commit.
import { openStore } from "../../src/index.ts";
import { bytesOf, KiB } from "../crash/bodies.ts";

export const largeBucket = "large";

/** Enough puts at once that each commit is as large as the engine makes one. */
const lanes = 1024;

export function keyOf(index: number): string {
  return `folder ${index % 100}/${String(index).padStart(8, "0")}`;
}

export async function fillStore(
  directory: string,
  objects: number,
  say: (line: string) => void,
): Promise<void> {
  const store = await openStore(directory);
  try {
    await store.createBucket(largeBucket);
    const bucket = store.bucket(largeBucket);
    let next = 0;
    async function fill(): Promise<void> {
      while (next < objects) {
        const index = next++;
        const key = keyOf(index);
        // One in a hundred is a file of its own.
        await bucket.put(key, bytesOf(key, { name: "first", size: index % 100 === 0 ? 5 * KiB : 100 }));
        if (next % 50_000 === 0) say(`${next} objects put`);
      }
    }
    await Promise.all(Array.from({ length: lanes }, fill));
  } finally {
    await store.close();
  }
}
