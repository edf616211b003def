// Opens a data directory: the two ports over SQLite and files. Any number of processes may do so at once.
import { resolve } from "node:path";
import type { Blobs } from "../engine/blobs.ts";
import type { Records } from "../engine/records.ts";
import { createLocalBlobs } from "./blobs.ts";
import { createBuckets } from "./buckets.ts";
import { openDatabase } from "./database.ts";
import { createFence } from "./fence.ts";
import { layoutOf } from "./layout.ts";
import { announcePresence } from "./presence.ts";
import { createLocalRecords } from "./records.ts";
import { clearUnregistered, prepareDirectory } from "./registry.ts";
import { createWriter } from "./writer.ts";

export async function openLocal(directory: string): Promise<{ records: Records; blobs: Blobs }> {
  const layout = layoutOf(resolve(directory));
  prepareDirectory(layout);
  const registry = openDatabase(layout.registry, { role: "writer" });
  clearUnregistered(layout, registry);
  registry.close();

  const fence = createFence();
  const presence = announcePresence(layout.processes);
  const buckets = createBuckets(layout);
  const records = createLocalRecords(buckets, createWriter(layout, fence));
  const blobs = createLocalBlobs({ layout, buckets, fence, presence });
  await blobs.recover();
  return { records, blobs };
}
