// Reads a whole backup: verifies each file against the manifest, and each record and block against
// its checksum, and reports missing files. A visitor decides what to do with the files.
import { join, resolve } from "node:path";
import { forEachLimit } from "../../async/for-each-limit.ts";
import type { StoredBlob } from "../../engine/blobs.ts";
import {
  type Authentication,
  type BackupDamage,
  BackupError,
  type BackupWork,
  type RestoreOptions,
  type VerifyBackupReport,
} from "../../model/backup.ts";
import { StoreError } from "../../model/errors.ts";
import { isMissing } from "../disk/errors.ts";
import { bucketPaths, isValidBlobId, parseBlobId } from "../disk/layout.ts";
import { authenticate } from "./authentication.ts";
import { findForeignBucket } from "./check.ts";
import { inspectFile, readBlob, type Watch } from "./copy-blob.ts";
import { type BackupLayout, backupBlobPath, backupLayout, snapshotLayout } from "./layout.ts";
import { createLinkCheck } from "./links.ts";
import { withReadLock } from "./lock.ts";
import { type BucketEntry, type FileEntry, type Manifest, toSummary } from "./manifest.ts";
import { listContents, openSnapshot } from "./sqlite-snapshot.ts";

const fileConcurrency = 8;

export interface BackupVisitor {
  /** Reads a file to its end and returns its size and digest. */
  records(path: string, bucketId: string): Promise<FileEntry>;
  registry(path: string): Promise<FileEntry>;
  companion(path: string, name: string): Promise<FileEntry>;
  /** Reads a body to its end and verifies it. */
  blob(path: string, blob: StoredBlob): Promise<void>;
  /** Returns the path of a body. Default: its path in the backup's folder. */
  readonly bodyPath?: ((blob: StoredBlob) => string) | undefined;
  damage(what: string): void;
}

export async function walkBackup(
  backup: BackupLayout,
  manifest: Manifest,
  visitor: BackupVisitor,
): Promise<void> {
  const snapshot = snapshotLayout(backup, manifest.snapshot);
  const checkLinks = createLinkCheck(backup.root);
  for (const entry of manifest.buckets) {
    const path = bucketPaths(snapshot, entry.id).database;
    checkLinks(path);
    const isWhole = await matches(visitor, path, entry.database, () => visitor.records(path, entry.id));
    if (isWhole) await walkBucket({ backup, entry, visitor, checkLinks }, path);
  }
  for (const entry of manifest.companions) {
    const path = join(snapshot.companions, entry.name);
    checkLinks(path);
    await matches(visitor, path, entry, () => visitor.companion(path, entry.name));
  }
  const { registry } = snapshot;
  checkLinks(registry);
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

interface BucketWalk {
  readonly backup: BackupLayout;
  readonly entry: BucketEntry;
  readonly visitor: BackupVisitor;
  /** Throws if a folder on the path is a symbolic link. */
  readonly checkLinks: (path: string) => void;
}

async function walkBucket(walk: BucketWalk, records: string): Promise<void> {
  const { entry, visitor } = walk;
  const counts = { objects: 0, files: 0 };
  const database = openSnapshot(records);
  try {
    await forEachLimit(listContents(database), { concurrency: fileConcurrency }, async (found) => {
      if (found.kind === "damage") visitor.damage(`${formatSubject(entry, found.key)}: ${found.what}`);
      else if (found.kind === "object") counts.objects++;
      else {
        counts.files++;
        await readBody(walk, found);
      }
    });
  } finally {
    database.close();
  }
  if (counts.objects !== entry.objects || counts.files !== entry.files)
    visitor.damage(`${formatSubject(entry, undefined)} does not match the counts in the manifest.`);
}

async function readBody(
  { backup, entry, visitor, checkLinks }: BucketWalk,
  { key, blob }: { readonly key: string; readonly blob: StoredBlob },
): Promise<void> {
  // The id becomes a path, so refuse an id that is malformed or of another bucket.
  if (!isValidBlobId(blob, entry.id)) {
    visitor.damage(`${formatSubject(entry, key)}: "${blob.id}" is not the id of a body in this bucket.`);
    return;
  }
  const path = visitor.bodyPath?.(blob) ?? backupBlobPath(backup, parseBlobId(blob.id));
  if (visitor.bodyPath === undefined) checkLinks(path);
  try {
    await visitor.blob(path, blob);
  } catch (error) {
    const subject = formatSubject(entry, key);
    if (isMissing(error)) visitor.damage(`${subject}: the file "${path}" is missing.`);
    else if (error instanceof StoreError)
      visitor.damage(`${subject}: ${error.detail} The file is "${path}".`);
    else throw error;
  }
}

function formatSubject({ name }: BucketEntry, key: string | undefined): string {
  return key === undefined ? `Bucket "${name}"` : `"${name}/${key}"`;
}

/** Returns the total size of the bodies and databases of a backup. */
export function totalBytes({ buckets, registry }: Manifest): number {
  return buckets.reduce((sum, { stored, database }) => sum + stored + database.bytes, registry.bytes);
}

export function createWatch({ progress, signal }: BackupWork): Watch {
  return (bytes) => {
    signal?.throwIfAborted();
    progress?.advance(bytes);
  };
}

/** Reads the whole backup and reports all damage. */
export async function verifyBackup(from: string, work: RestoreOptions = {}): Promise<VerifyBackupReport> {
  const backup = backupLayout(resolve(from));
  const watch = createWatch(work);
  return withReadLock(backup, (manifest) =>
    verifyAll({ backup, manifest, work, watch, readBody: (path, blob) => readBlob(path, blob, watch) }),
  );
}

export interface Verification {
  readonly backup: BackupLayout;
  readonly manifest: Manifest;
  readonly work: RestoreOptions;
  readonly watch: Watch;
  /** Reads a body to its end and verifies it. */
  readBody(path: string, blob: StoredBlob): Promise<void>;
  readonly bodyPath?: ((blob: StoredBlob) => string) | undefined;
}

export async function verifyAll(verification: Verification): Promise<VerifyBackupReport> {
  const { backup, manifest, work, watch, readBody: blob, bodyPath } = verification;
  const damages: BackupDamage[] = [];
  const damage = (what: string) => damages.push({ what });
  work.progress?.expect(totalBytes(manifest));
  const inspect = (path: string) => inspectFile(path, watch);
  const authentication = await authenticate(backup, manifest, work).catch(
    (error: unknown): Authentication => {
      if (!(error instanceof BackupError)) throw error;
      damage(error.message);
      return "unverified";
    },
  );
  const foreign = await findForeignBucket(backup, manifest);
  if (foreign !== undefined) damage(foreign);
  await walkBackup(backup, manifest, {
    ...{ records: inspect, registry: inspect, companion: inspect, blob, bodyPath, damage },
  });
  return { ...toSummary(manifest), authentication, damages };
}
