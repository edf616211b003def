// Backs up a data directory in use: each bucket, then the registry. When all files are durable, a
// new manifest makes this the current backup, and files that it does not need are removed.
import { rm } from "node:fs/promises";
import { resolve } from "node:path";
import type { BackupOptions, BackupReport } from "../../model/backup.ts";
import { dataLayout, type Layout, randomName } from "../disk/layout.ts";
import { acquireProcessLock } from "../disk/process-lock.ts";
import { prepareDirectory } from "../index/bucket-registry.ts";
import { createPins, type Pins } from "../recovery/pins.ts";
import { authenticated } from "./authentication.ts";
import type { BucketBackup } from "./backup-bucket.ts";
import { createFolderBodies } from "./folders.ts";
import { mapFullDiskError } from "./full-disk.ts";
import { writeLastBackup } from "./last-backup.ts";
import { type BackupLayout, backupLayout, snapshotLayout } from "./layout.ts";
import { lockForWriting } from "./lock.ts";
import { type Manifest, readManifest, toSummary, writeManifest } from "./manifest.ts";
import { clearSnapshots, removeUnreferenced } from "./prune.ts";
import { bytesIn, registeredBuckets, takeSnapshot } from "./snapshot.ts";
import { checkSameStore, prepareBackupFolder } from "./target.ts";

export async function backUp(
  directory: string,
  to: string,
  options: BackupOptions = {},
): Promise<BackupReport> {
  const source = dataLayout(resolve(directory));
  const backup = backupLayout(resolve(to));
  prepareBackupFolder(source, backup);
  // Also migrates the registry to the current schema.
  prepareDirectory(source);
  const unlock = lockForWriting(backup);
  try {
    // Other processes respect a pin only while the process that created it holds its lock.
    const processLock = acquireProcessLock(source.processes);
    try {
      const report = await backUpLocked(source, backup, createPins(processLock.name), options);
      await writeLastBackup(source.root, { time: report.made, to: backup.root, bytes: report.bytes });
      return report;
    } finally {
      processLock.close();
    }
  } catch (error) {
    throw mapFullDiskError(error, backup.root, "An earlier backup there was not changed.");
  } finally {
    unlock();
  }
}

async function backUpLocked(
  source: Layout,
  backup: BackupLayout,
  pins: Pins,
  { companions = [], elsewhere = [], secretKey, progress, signal }: BackupOptions,
): Promise<BackupReport> {
  const made = Date.now();
  const earlier = readManifest(backup);
  const registered = registeredBuckets(source);
  checkSameStore(registered, earlier, backup);
  progress?.expect(bytesIn(source, registered));
  await clearSnapshots(backup, earlier?.snapshot);
  const name = randomName();
  const snapshot = snapshotLayout(backup, name);
  const watch = (bytes: number) => {
    signal?.throwIfAborted();
    progress?.advance(bytes);
  };
  const bodies = createFolderBodies(backup);
  const counts = { copiedFiles: 0, copiedBytes: 0 };
  const work: BucketBackup = { source, backup, snapshot, bodies, watch, counts, damages: [] };
  try {
    const completed = await takeSnapshot(work, { pins, registered, companions });
    const content: Manifest = { format: 1, made, snapshot: name, elsewhere, ...completed };
    const manifest = authenticated(content, secretKey?.());
    await writeManifest(backup, manifest);
    await removeUnreferenced(backup, manifest);
    return { ...toSummary(manifest), ...counts };
  } catch (error) {
    // Remove only the snapshot. The copied bodies stay, because the next run reuses them.
    if (readManifest(backup)?.snapshot !== name) await rm(snapshot.root, { recursive: true, force: true });
    throw error;
  }
}
