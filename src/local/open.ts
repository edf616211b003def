// Opens a data directory: the two ports over SQLite and files. Any number of processes may do so at once.
import { existsSync, rmSync } from "node:fs";
import { resolve } from "node:path";
import type { ActLog } from "../audit/audit-log.ts";
import type { Blobs } from "../engine/blobs.ts";
import type { Records } from "../engine/records.ts";
import { createMetrics } from "../metrics/metrics.ts";
import { createLocalBlobs, type Sizes, usualSizes } from "./blobs.ts";
import { createWriter } from "./commit/group-commit.ts";
import { createActFile } from "./disk/audit-file.ts";
import { type Layout, layoutOf } from "./disk/layout.ts";
import { createLocalFigures } from "./disk/metrics.ts";
import { announcePresence } from "./disk/process-lock.ts";
import { createFence } from "./disk/write-fence.ts";
import { createBuckets } from "./index/bucket-handles.ts";
import { clearUnregistered, prepareDirectory } from "./index/bucket-registry.ts";
import { busyMilliseconds, openDatabase, sqliteCode, sqliteFull } from "./index/sqlite.ts";
import { createLocalRecords } from "./records.ts";

/** @internal `sizes` and `busy` are for tests that come to their edges with few bytes and soon. */
export async function openLocal(
  directory: string,
  sizes: Sizes = usualSizes,
  metrics = createMetrics(),
  busy = busyMilliseconds,
): Promise<{ records: Records; blobs: Blobs; acts: ActLog; commitForOthers(): Promise<void> }> {
  const layout = layoutOf(resolve(directory));
  prepareOnFullDisk(layout);
  const registry = openDatabase(layout.registry, { role: "writer" });
  clearUnregistered(layout, registry);
  registry.close();

  const fence = createFence();
  const presence = announcePresence(layout.processes);
  const buckets = createBuckets(layout);
  const figures = createLocalFigures(metrics);
  const writer = createWriter(
    { layout, processName: presence.name, figures: figures.shared, busyMilliseconds: busy },
    fence,
    figures,
  );
  const records = createLocalRecords(layout, buckets, writer);
  const blobs = createLocalBlobs({
    ...{ layout, buckets, fence, presence, sizes, figures },
    commit: (bucketId, change) => writer.commit(bucketId, change),
  });
  await blobs.recover();
  return { records, blobs, acts: createActFile(layout.acts), commitForOthers: () => writer.openDoor() };
}

/** Opening needs a little room, for the logs of the databases: on a full disk the reserve gives it. */
function prepareOnFullDisk(layout: Layout): void {
  try {
    prepareDirectory(layout);
  } catch (error) {
    if (sqliteCode(error) !== sqliteFull || !existsSync(layout.reserve)) throw error;
    rmSync(layout.reserve, { force: true });
    prepareDirectory(layout);
  }
}
