// Reads a backup through: each file against the manifest, each record and block against its own checksum, and
// that nothing is missing. What becomes of the files is the visitor's affair.
import { join, resolve } from "node:path";
import type { StoredBlob } from "../engine/blobs.ts";
import type { BackupDamage, BackupWork, VerifyBackupReport } from "../model/backup.ts";
import { StoreError } from "../model/errors.ts";
import { type BackupLayout, backupBlobPath, backupLayoutOf, snapshotLayoutOf } from "./backup-layout.ts";
import { whileReading } from "./backup-lock.ts";
import { type BucketEntry, type FileEntry, type Manifest, totalsOf } from "./backup-manifest.ts";
import { isMissing } from "./disk-errors.ts";
import { inspectFile, readBlob, type Watch } from "./file-copy.ts";
import { inParallel } from "./in-parallel.ts";
import { bucketPaths, placeOf } from "./layout.ts";
import { contentsOf, openSnapshot } from "./snapshot.ts";

const filesAtOnce = 8;

export interface BackupVisitor {
  /** Reads a file to its end and tells what it held. */
  records(path: string, bucketId: string): Promise<FileEntry>;
  registry(path: string): Promise<FileEntry>;
  companion(path: string, name: string): Promise<FileEntry>;
  /** Reads a body to its end, verified. */
  blob(path: string, blob: StoredBlob): Promise<void>;
  damage(what: string): void;
}

export async function walkBackup(
  backup: BackupLayout,
  manifest: Manifest,
  visitor: BackupVisitor,
): Promise<void> {
  const snapshot = snapshotLayoutOf(backup, manifest.snapshot);
  for (const entry of manifest.buckets) {
    const path = bucketPaths(snapshot, entry.id).database;
    const isWhole = await matches(visitor, path, entry.database, () => visitor.records(path, entry.id));
    if (isWhole) await walkBucket(backup, entry, path, visitor);
  }
  for (const entry of manifest.companions) {
    const path = join(snapshot.companions, entry.name);
    await matches(visitor, path, entry, () => visitor.companion(path, entry.name));
  }
  const { registry } = snapshot;
  await matches(visitor, registry, manifest.registry, () => visitor.registry(registry));
}

async function matches(
  { damage }: BackupVisitor,
  path: string,
  expected: FileEntry,
  read: () => Promise<FileEntry>,
): Promise<boolean> {
  try {
    const found = await read();
    if (found.bytes === expected.bytes && found.sha256 === expected.sha256) return true;
    damage(`"${path}" does not match the manifest's checksum.`);
  } catch (error) {
    if (!isMissing(error)) throw error;
    damage(`"${path}" is missing.`);
  }
  return false;
}

async function walkBucket(
  backup: BackupLayout,
  entry: BucketEntry,
  records: string,
  visitor: BackupVisitor,
): Promise<void> {
  const counts = { objects: 0, files: 0 };
  const database = openSnapshot(records);
  try {
    await inParallel(contentsOf(database), filesAtOnce, async (found) => {
      if (found.kind === "damage") visitor.damage(`${subjectOf(entry, found.key)}: ${found.what}`);
      else if (found.kind === "object") counts.objects++;
      else {
        counts.files++;
        await readBody(backup, entry, found, visitor);
      }
    });
  } finally {
    database.close();
  }
  if (counts.objects !== entry.objects || counts.files !== entry.files)
    visitor.damage(`${subjectOf(entry, undefined)} does not hold what the manifest says.`);
}

async function readBody(
  backup: BackupLayout,
  entry: BucketEntry,
  { key, blob }: { readonly key: string; readonly blob: StoredBlob },
  visitor: BackupVisitor,
): Promise<void> {
  const path = backupBlobPath(backup, placeOf(blob.id));
  try {
    await visitor.blob(path, blob);
  } catch (error) {
    const subject = subjectOf(entry, key);
    if (isMissing(error)) visitor.damage(`${subject}: the file "${path}" is missing.`);
    else if (error instanceof StoreError)
      visitor.damage(`${subject}: ${error.detail} The file is "${path}".`);
    else throw error;
  }
}

function subjectOf({ name }: BucketEntry, key: string | undefined): string {
  return key === undefined ? `Bucket "${name}"` : `"${name}/${key}"`;
}

/** How many bytes of files a backup has. */
export function bytesOf({ buckets, registry }: Manifest): number {
  return buckets.reduce((sum, { stored, database }) => sum + stored + database.bytes, registry.bytes);
}

export function watchOf({ progress, signal }: BackupWork): Watch {
  return (bytes) => {
    signal?.throwIfAborted();
    progress?.advance(bytes);
  };
}

/** Reads all of it, past the first damage. */
export async function verifyBackup(from: string, work: BackupWork = {}): Promise<VerifyBackupReport> {
  const backup = backupLayoutOf(resolve(from));
  return whileReading(backup, async (manifest) => {
    const damages: BackupDamage[] = [];
    work.progress?.expect(bytesOf(manifest));
    const watch = watchOf(work);
    const inspect = (path: string) => inspectFile(path, watch);
    await walkBackup(backup, manifest, {
      records: inspect,
      registry: inspect,
      companion: inspect,
      blob: (path, blob) => readBlob(path, blob, watch),
      damage: (what) => damages.push({ what }),
    });
    return { ...totalsOf(manifest), damages };
  });
}
