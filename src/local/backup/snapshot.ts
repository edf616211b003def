// Takes the snapshot of a data directory in use: every bucket, then the registry. Backups to folders
// and to other services share it.
import { mkdir } from "node:fs/promises";
import { BackupError } from "../../model/backup.ts";
import { isMissing } from "../disk/errors.ts";
import { bucketPaths, type Layout } from "../disk/layout.ts";
import { privateFolder } from "../disk/private-files.ts";
import { createRegistryReader, type RegisteredBucket } from "../index/bucket-registry.ts";
import { type Database, openDatabase } from "../index/sqlite.ts";
import type { Pins } from "../recovery/pins.ts";
import { type BucketBackup, backUpBucket } from "./backup-bucket.ts";
import { completeSnapshot } from "./backup-registry.ts";
import type { BucketEntry } from "./manifest.ts";

export interface SnapshotRequest {
  readonly pins: Pins;
  /** The buckets at the start of the backup. */
  readonly registered: readonly RegisteredBucket[];
  readonly companions: readonly string[];
}

/** Throws if the store is damaged: such a backup would replace a whole one. */
export async function takeSnapshot(
  work: BucketBackup,
  { pins, registered, companions }: SnapshotRequest,
): ReturnType<typeof completeSnapshot> {
  const { snapshot, backup } = work;
  for (const path of [snapshot.buckets, snapshot.trash, snapshot.companions, backup.blobs])
    await mkdir(path, { recursive: true, mode: privateFolder });
  const buckets = await backUpBuckets(work, pins, registered);
  const completed = await completeSnapshot(work, { pins, companions, buckets });
  if (work.damages.length > 0) throw damagedStoreError(work.damages);
  return completed;
}

export function registeredBuckets(source: Layout): RegisteredBucket[] {
  return readDatabase(source.registry, (registry) => createRegistryReader(registry).all());
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
export function bytesIn(source: Layout, buckets: readonly RegisteredBucket[]): number {
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
