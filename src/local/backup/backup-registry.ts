// Completes a backup: copies the registry, then the buckets created since the backup started. The
// registry is locked until these buckets are leased, so none is deleted before it is copied.
import { existsSync, readdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { invariant } from "../../model/errors.ts";
import { syncDirectory } from "../disk/fsync-directory.ts";
import { bucketPaths, type Layout } from "../disk/layout.ts";
import { createRegistryReader, deleteBucket, type RegisteredBucket } from "../index/bucket-registry.ts";
import { type Database, openDatabase } from "../index/sqlite.ts";
import type { Pins } from "../recovery/pins.ts";
import { type BucketBackup, backUpBucket } from "./backup-bucket.ts";
import { copyWhole, inspectFile } from "./copy-blob.ts";
import type { SnapshotLayout } from "./layout.ts";
import type { BucketEntry, Manifest } from "./manifest.ts";
import { checkPages, copyDatabase, openSnapshot } from "./sqlite-snapshot.ts";

export interface PreparedSnapshot {
  readonly pins: Pins;
  readonly companions: readonly string[];
  /** Buckets that are already copied, by id. */
  readonly buckets: ReadonlyMap<string, BucketEntry>;
}

/** Copies registry and remaining buckets. All files are durable when the promise resolves. */
export async function completeSnapshot(
  work: BucketBackup,
  prepared: PreparedSnapshot,
): Promise<Pick<Manifest, "registry" | "companions" | "buckets">> {
  const { source, snapshot, backup } = work;
  const buckets = await backUpRegistry(work, prepared);
  const companions = await copyCompanions(source, snapshot.companions, prepared.companions);
  const registry = await inspectFile(snapshot.registry, () => {}, "sync");
  for (const { id } of buckets) await syncDirectory(bucketPaths(snapshot, id).directory);
  const directories = [snapshot.companions, snapshot.buckets, snapshot.root];
  for (const path of [...directories, backup.blobs, backup.snapshots, backup.root]) await syncDirectory(path);
  return { registry, companions, buckets };
}

async function backUpRegistry(
  work: BucketBackup,
  { pins, buckets }: PreparedSnapshot,
): Promise<BucketEntry[]> {
  const { source, snapshot, watch } = work;
  const late = new Map<string, () => void>();
  const all: RegisteredBucket[] = [];
  const copied = new Map<string, BucketEntry>();
  try {
    const registry = openDatabase(source.registry, { role: "writer" });
    try {
      registry.exec("BEGIN IMMEDIATE");
      all.push(...createRegistryReader(registry).all());
      for (const { id } of all) if (!buckets.has(id)) late.set(id, pins.lease(source, id));
      await copyDatabase(source.registry, snapshot.registry, watch);
    } finally {
      if (registry.isTransaction) registry.exec("ROLLBACK");
      registry.close();
    }
    for (const bucket of all) {
      const entry = buckets.get(bucket.id) ?? (await backUpBucket(work, bucket));
      if (entry !== undefined) copied.set(bucket.id, entry);
      late.get(bucket.id)?.();
    }
  } finally {
    for (const release of late.values()) release();
  }
  await settleDeleted(snapshot, all, copied);
  return [...copied.values()];
}

/** Removes buckets from the copied registry that were deleted before they could be copied. */
async function settleDeleted(
  snapshot: SnapshotLayout,
  all: readonly RegisteredBucket[],
  copied: ReadonlyMap<string, BucketEntry>,
): Promise<void> {
  const deleted = all.filter(({ id }) => !copied.has(id));
  if (deleted.length > 0) {
    const registry = openDatabase(snapshot.registry, { role: "writer" });
    try {
      for (const { name } of deleted) deleteBucket(snapshot, registry, name);
      truncateLog(registry);
    } finally {
      registry.close();
    }
    for (const log of ["-wal", "-shm"]) await rm(snapshot.registry + log, { force: true });
  }
  // Also remove copies of buckets that were deleted before the registry was copied.
  for (const id of readdirSync(snapshot.buckets)) {
    if (!copied.has(id)) await rm(bucketPaths(snapshot, id).directory, { recursive: true, force: true });
  }
  await rm(snapshot.trash, { recursive: true, force: true });
  const registry = openSnapshot(snapshot.registry);
  try {
    checkPages(registry);
  } finally {
    registry.close();
  }
}

/** Runs a checkpoint. Closing may not run one: the driver keeps databases open until GC. */
function truncateLog(database: Database): void {
  const { busy } = database.prepare<{ busy: number }>("PRAGMA wal_checkpoint(TRUNCATE)").get()!;
  invariant(busy === 0, "no other process uses the copy of the registry");
}

/** Copies the key files. Called after the registry is copied, so that each secret has its key. */
async function copyCompanions(source: Layout, to: string, names: readonly string[]) {
  const entries = [];
  for (const name of names) {
    const from = join(source.root, name);
    if (existsSync(from)) entries.push({ name, ...(await copyWhole(from, join(to, name), () => {})) });
  }
  return entries;
}
