// Creates the stores of the growth section, or reuses the stores of an earlier run (--stores).
// Fills them through the Records port, 5,000 puts per commit: ten million objects take minutes.
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createEngine } from "../../src/engine/create.ts";
import type { Records } from "../../src/engine/records.ts";
import { openLocal } from "../../src/local/open.ts";
import { keysInFolders, type LargeStore } from "../large-store.ts";
import { KiB, present, sameCount } from "../section.ts";

const bucket = "large";
const putsAtOnce = 5000;

/** Returns the store in `folder` that holds `objects` objects of 1 KiB; creates it if missing. */
export async function storeOf(
  folder: string,
  objects: number,
  progress: (text: string) => void,
): Promise<LargeStore> {
  const directory = join(folder, String(objects));
  const large = { directory, bucket, objects, folders: 10, key: keysInFolders(10, objects) };
  if (existsSync(directory)) return large;
  // The store is renamed when it is full, so that an incomplete store is never reused.
  const unfinished = join(folder, `unfinished-${objects}`);
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished);
  const { records, blobs } = await openLocal(unfinished);
  const engine = createEngine({ records, blobs });
  await engine.createBucket(bucket);
  // The engine puts the first object; `fill` copies its record for all other keys.
  await engine.put(bucket, large.key(0), Buffer.alloc(KiB, 1));
  await fill(records, large, progress);
  sameCount((await engine.totals(bucket)).objects, objects, "objects");
  await engine.close();
  renameSync(unfinished, directory);
  return large;
}

async function fill(
  records: Records,
  { objects, key }: LargeStore,
  progress: (text: string) => void,
): Promise<void> {
  const { record, body } = present(await records.objectWithBody(bucket, key(0)), "the first object");
  for (let from = 1; from < objects; from += putsAtOnce) {
    progress(`${from.toLocaleString("en")} of ${objects.toLocaleString("en")} objects`);
    const mutations = Array.from({ length: Math.min(putsAtOnce, objects - from) }, (_, index) => ({
      ...({ kind: "put object", body } as const),
      record: { ...record, key: key(from + index), version: randomBytes(16).toString("hex") },
    }));
    if ((await records.commit(bucket, { mutations })) !== "committed")
      throw new Error("Cannot fill the store: a commit was refused");
  }
}
