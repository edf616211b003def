// Backs up a data directory in use to a repository on an S3 service. Bodies are uploaded first, then
// the databases; the manifest, written last, makes the backup visible.
import { resolve } from "node:path";
import {
  BackupError,
  type KeepRule,
  type OffsiteBackupOptions,
  type OffsiteBackupReport,
  type PruneReport,
} from "../../model/backup.ts";
import { lockRepository, type RepositoryLock } from "../../repository/lock.ts";
import { formatBackupName, type Repository } from "../../repository/repository.ts";
import { authenticated } from "../backup/authentication.ts";
import type { BucketBackup } from "../backup/backup-bucket.ts";
import { mapFullDiskError } from "../backup/full-disk.ts";
import { writeLastBackup } from "../backup/last-backup.ts";
import { type SnapshotLayout, snapshotLayout } from "../backup/layout.ts";
import { toSummary } from "../backup/manifest.ts";
import { bytesIn, registeredBuckets, takeSnapshot } from "../backup/snapshot.ts";
import { dataLayout, type Layout, randomName } from "../disk/layout.ts";
import { acquireProcessLock } from "../disk/process-lock.ts";
import { prepareDirectory, type RegisteredBucket } from "../index/bucket-registry.ts";
import { createPins, type Pins } from "../recovery/pins.ts";
import { createRemoteBodies } from "./bodies.ts";
import { type BodyIndex, withBodyIndex } from "./body-index.ts";
import { DamagedManifest, fetchManifest, type OffsiteManifest } from "./manifest.ts";
import { pruneRepository } from "./prune.ts";
import { openStaging, type Staging } from "./staging.ts";
import { checkUploaded, uploadSnapshot } from "./upload.ts";

export async function backUpOffsite(
  directory: string,
  repository: Repository,
  options: OffsiteBackupOptions = {},
): Promise<OffsiteBackupReport> {
  const source = dataLayout(resolve(directory));
  // Also migrates the registry to the current schema.
  prepareDirectory(source);
  const staging = await openStaging(source, repository.where);
  try {
    // Other processes respect a pin only while the process that created it holds its lock.
    const processLock = acquireProcessLock(source.processes);
    try {
      const lock = await lockRepository(repository.objects, { owner: staging.owner });
      try {
        const pins = createPins(processLock.name);
        return await withBodyIndex(staging.index, (index) =>
          backUpLocked({ source, repository, staging, lock, index, pins }, options),
        );
      } finally {
        await lock.release();
      }
    } finally {
      processLock.close();
    }
  } catch (error) {
    throw mapFullDiskError(error, source.root, "Backups that are complete were not changed.");
  } finally {
    await staging.close();
  }
}

interface Work {
  readonly source: Layout;
  readonly repository: Repository;
  readonly staging: Staging;
  readonly lock: RepositoryLock;
  readonly index: BodyIndex;
  readonly pins: Pins;
}

async function backUpLocked(work: Work, options: OffsiteBackupOptions): Promise<OffsiteBackupReport> {
  const { source, repository, staging, lock, index } = work;
  const { keep, progress } = options;
  const time = Date.now();
  const id = randomName();
  const backup = { name: formatBackupName(time, id), time, id };
  const registered = registeredBuckets(source);
  await checkSameStore(repository, registered);
  progress?.expect(bytesIn(source, registered));
  const counts = { copiedFiles: 0, copiedBytes: 0 };
  const snapshot = snapshotLayout(staging.layout, id);
  const manifest = await uploadAll(work, options, { time, id, snapshot, registered, counts });
  // A slow backup may have lost the lock, and another process may then have removed its bodies.
  await lock.renew();
  await checkUploaded({ repository, index, snapshot }, manifest);
  lock.check();
  await repository.writeManifest(backup, manifest);
  await writeLastBackup(source.root, { time, to: repository.where, bytes: toSummary(manifest).bytes });
  const pruned = await prune(work, keep);
  const { where: to, isEncrypted } = repository;
  return { to, backup: backup.name, isEncrypted, ...toSummary(manifest), ...counts, ...pruned };
}

interface Upload {
  readonly time: number;
  readonly id: string;
  readonly snapshot: SnapshotLayout;
  readonly registered: readonly RegisteredBucket[];
  readonly counts: BucketBackup["counts"];
}

async function uploadAll(
  { source, repository, staging, index, pins }: Work,
  { companions = [], elsewhere = [], secretKey, progress, signal }: OffsiteBackupOptions,
  { time, id, snapshot, registered, counts }: Upload,
): Promise<OffsiteManifest> {
  const watch = (bytes: number) => {
    signal?.throwIfAborted();
    progress?.advance(bytes);
  };
  const bodies = createRemoteBodies(repository, index);
  const bucketBackup: BucketBackup = {
    ...{ source, backup: staging.layout, snapshot, bodies, watch, counts, damages: [] },
  };
  const completed = await takeSnapshot(bucketBackup, { pins, registered, companions });
  const content = { format: 1, made: time, snapshot: id, elsewhere, ...completed } as const;
  const lists = await uploadSnapshot({ repository, index, snapshot, content, watch });
  return authenticated({ ...content, lists }, secretKey?.());
}

/** Throws if the repository contains backups of another store. */
async function checkSameStore(
  repository: Repository,
  registered: readonly RegisteredBucket[],
): Promise<void> {
  const buckets = await latestBuckets(repository);
  const there = new Set(registered.map(({ id }) => id));
  if (buckets.length === 0 || buckets.some(({ id }) => there.has(id))) return;
  throw new BackupError(`${repository.where} has backups of another store: they have no bucket in common.`, [
    "Specify another prefix, or remove these backups if they are no longer needed.",
  ]);
}

/** The buckets of the latest backup whose manifest is whole: a damaged one must not end all backups. */
async function latestBuckets(repository: Repository): Promise<OffsiteManifest["buckets"]> {
  for (const backup of (await repository.backups()).reverse()) {
    try {
      return (await fetchManifest(repository, backup)).buckets;
    } catch (error) {
      if (!(error instanceof DamagedManifest)) throw error;
    }
  }
  return [];
}

async function prune({ repository, lock, index }: Work, keep: KeepRule | undefined): Promise<PruneReport> {
  try {
    return await pruneRepository({ repository, lock, index, keep });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const hints = error instanceof BackupError ? error.hints : [];
    throw new BackupError(
      `The backup is complete, but what it replaces was not removed: ${why}`,
      hints,
      error,
    );
  }
}
