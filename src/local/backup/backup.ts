// Backs up a data directory in use: each bucket, then the registry. When all files are durable, a
// new manifest makes this the current backup, and files that it does not need are removed.
import { mkdir, rm } from "node:fs/promises";
import { resolve } from "node:path";
import { BackupError, type BackupOptions, type BackupReport } from "../../model/backup.ts";
import { isMissing } from "../disk/errors.ts";
import { bucketPaths, dataLayout, type Layout, randomName } from "../disk/layout.ts";
import { privateFolder } from "../disk/private-files.ts";
import { acquireProcessLock } from "../disk/process-lock.ts";
import { createRegistryReader, prepareDirectory, type RegisteredBucket } from "../index/bucket-registry.ts";
import { type Database, openDatabase } from "../index/sqlite.ts";
import { createPins, type Pins } from "../recovery/pins.ts";
import { computeAuthentication } from "./authentication.ts";
import { type BucketBackup, backUpBucket } from "./backup-bucket.ts";
import { completeSnapshot } from "./backup-registry.ts";
import { mapFullDiskError } from "./full-disk.ts";
import { type BackupLayout, backupLayout, snapshotLayout } from "./layout.ts";
import { lockForWriting } from "./lock.ts";
import { type BucketEntry, type Manifest, readManifest, toSummary, writeManifest } from "./manifest.ts";
import { clearSnapshots, removeUnreferenced } from "./prune.ts";
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
      return await backUpLocked(source, backup, createPins(processLock.name), options);
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
  const registered = readDatabase(source.registry, (registry) => createRegistryReader(registry).all());
  checkSameStore(registered, earlier, backup);
  progress?.expect(bytesIn(source, registered));
  await clearSnapshots(backup, earlier?.snapshot);
  const name = randomName();
  const snapshot = snapshotLayout(backup, name);
  const watch = (bytes: number) => {
    signal?.throwIfAborted();
    progress?.advance(bytes);
  };
  const work: BucketBackup = {
    ...{ source, backup, snapshot, watch },
    counts: { copiedFiles: 0, copiedBytes: 0 },
    damages: [],
  };
  try {
    for (const path of [snapshot.buckets, snapshot.trash, snapshot.companions, backup.blobs])
      await mkdir(path, { recursive: true, mode: privateFolder });
    const buckets = await backUpBuckets(work, pins, registered);
    const completed = await completeSnapshot(work, { pins, companions, buckets });
    if (work.damages.length > 0) throw damagedStoreError(work.damages);
    const content: Manifest = { format: 1, made, snapshot: name, elsewhere, ...completed };
    const manifest = authenticated(content, secretKey?.());
    await writeManifest(backup, manifest);
    await removeUnreferenced(backup, manifest);
    return { ...toSummary(manifest), ...work.counts };
  } catch (error) {
    // Remove only the snapshot. The copied bodies stay, because the next run reuses them.
    if (readManifest(backup)?.snapshot !== name) await rm(snapshot.root, { recursive: true, force: true });
    throw error;
  }
}

function authenticated(manifest: Manifest, key: Uint8Array | undefined): Manifest {
  return key === undefined ? manifest : { ...manifest, authentication: computeAuthentication(manifest, key) };
}

/** Returns the entries by bucket id, without buckets that were deleted during the backup. */
async function backUpBuckets(
  work: BucketBackup,
  pins: Pins,
  buckets: readonly RegisteredBucket[],
): Promise<Map<string, BucketEntry>> {
  const done = new Map<string, BucketEntry>();
  for (const bucket of buckets) {
    const release = leaseIfExists(pins, work.source, bucket.id);
    try {
      const entry = release === undefined ? undefined : await backUpBucket(work, bucket);
      if (entry !== undefined) done.set(bucket.id, entry);
    } finally {
      release?.();
    }
  }
  return done;
}

function leaseIfExists(pins: Pins, source: Layout, id: string): (() => void) | undefined {
  try {
    return pins.lease(source, id);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Returns the total size of the buckets, which the progress display uses as expected bytes. */
function bytesIn(source: Layout, buckets: readonly RegisteredBucket[]): number {
  let bytes = 0;
  for (const { id } of buckets) {
    try {
      const count = (database: Database) =>
        database.prepare<{ bytes: number }>("SELECT bytes FROM bucket").get();
      bytes += readDatabase(bucketPaths(source, id).database, count)?.bytes ?? 0;
    } catch {
      // The bucket was deleted. Any other error is reported when the bucket is copied.
    }
  }
  return bytes;
}

function readDatabase<T>(path: string, read: (database: Database) => T): T {
  const database = openDatabase(path, { role: "reader" });
  try {
    return read(database);
  } finally {
    database.close();
  }
}

const maxReported = 20;

function damagedStoreError(damages: readonly string[]): BackupError {
  const more = damages.length - maxReported;
  return new BackupError(
    "The store itself is damaged, so the backup was not completed; an earlier backup there was not changed.",
    [
      ...damages.slice(0, maxReported),
      ...(more > 0 ? [`and ${more} more`] : []),
      "Replace or delete these objects, then try again. An earlier backup may still have them.",
    ],
  );
}
