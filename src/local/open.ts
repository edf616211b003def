// Opens a data directory: both ports on SQLite and files. Many processes can open it concurrently.
import { existsSync, rmSync } from "node:fs";
import { resolve } from "node:path";
import type { AuditLog } from "../audit/audit-log.ts";
import type { Blobs } from "../engine/blobs.ts";
import type { Records } from "../engine/records.ts";
import { createMetrics } from "../metrics/metrics.ts";
import { createLocalBlobs, defaultSizes, type Sizes } from "./blobs.ts";
import { createWriter } from "./commit/group-commit.ts";
import { createAuditFile } from "./disk/audit-file.ts";
import { dataLayout, type Layout } from "./disk/layout.ts";
import { createLocalMetrics } from "./disk/metrics.ts";
import { acquireProcessLock, hasStaleLock } from "./disk/process-lock.ts";
import { createWriteStop } from "./disk/write-stop.ts";
import { createBuckets } from "./index/bucket-handles.ts";
import { clearUnregistered, prepareDirectory } from "./index/bucket-registry.ts";
import { settleLog } from "./index/settle-log.ts";
import { busyMilliseconds, openDatabase, sqliteCode, sqliteFull } from "./index/sqlite.ts";
import { createLocalRecords } from "./records.ts";

/** @internal `sizes` and `busyTimeout` let tests reach limits with few bytes and in little time. */
export async function openLocal(
  directory: string,
  sizes: Sizes = defaultSizes,
  metrics = createMetrics(),
  busyTimeout = busyMilliseconds,
): Promise<{ records: Records; blobs: Blobs; auditLog: AuditLog; commitForOthers(): Promise<void> }> {
  const layout = dataLayout(resolve(directory));
  prepareOnFullDisk(layout);
  const registry = openDatabase(layout.registry, { role: "writer" });
  clearUnregistered(layout, registry);
  registry.close();

  const writeStop = createWriteStop();
  const processLock = acquireProcessLock(layout.processes);
  const buckets = createBuckets(layout);
  const localMetrics = createLocalMetrics(metrics);
  const writer = createWriter(
    {
      layout,
      processName: processLock.name,
      metricsBuffer: localMetrics.sharedBuffer,
      busyMilliseconds: busyTimeout,
    },
    writeStop,
    localMetrics,
  );
  const records = createLocalRecords(layout, buckets, writer);
  const blobs = createLocalBlobs({
    ...{ layout, buckets, writeStop, processLock, sizes, metrics: localMetrics },
    commit: (bucketId, change) => writer.commit(bucketId, change),
  });
  await blobs.recover();
  return {
    records,
    blobs,
    auditLog: createAuditFile(layout.auditLog),
    commitForOthers: () => writer.startServer(),
  };
}

function prepare(layout: Layout): void {
  prepareDirectory(layout);
  if (hasStaleLock(layout.processes)) settleLog(layout.registry);
}

/** Prepares the directory. If the disk is full, releases the reserve for the database logs. */
function prepareOnFullDisk(layout: Layout): void {
  try {
    prepare(layout);
  } catch (error) {
    if (sqliteCode(error) !== sqliteFull || !existsSync(layout.reserve)) throw error;
    rmSync(layout.reserve, { force: true });
    prepare(layout);
  }
}
