// Restores a backup into an empty directory and verifies every byte. A marker file prevents the
// directory from being opened until all files are complete and durable.
import { Buffer } from "node:buffer";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { StoredBlob } from "../../engine/blobs.ts";
import { BackupError, type RestoreOptions, type RestoreReport } from "../../model/backup.ts";
import { StoreError } from "../../model/errors.ts";
import { isMissing } from "../disk/errors.ts";
import { syncAncestors, syncDirectory } from "../disk/fsync-directory.ts";
import {
  blobOffset,
  blobPath,
  bucketPaths,
  dataLayout,
  isInSegment,
  type Layout,
  parseBlobId,
} from "../disk/layout.ts";
import { privateFolder, tightenDirectory } from "../disk/private-files.ts";
import { authenticate } from "./authentication.ts";
import { findForeignBucket } from "./check.ts";
import {
  copyWhole,
  fileChunks,
  hasBlob,
  readBlob,
  type Watch,
  writeBlob,
  writeIntoSegment,
  writeWhole,
} from "./copy-blob.ts";
import { createFolderMaker, type FolderMaker } from "./folders.ts";
import { mapFullDiskError } from "./full-disk.ts";
import { type BackupLayout, backupLayout } from "./layout.ts";
import { withReadLock } from "./lock.ts";
import { type SealedManifest, toSummary } from "./manifest.ts";
import { createWatch, totalBytes, walkBackup } from "./reader.ts";

export async function restore(
  from: string,
  directory: string,
  work: RestoreOptions = {},
): Promise<RestoreReport> {
  const backup = backupLayout(resolve(from));
  const target = dataLayout(resolve(directory));
  try {
    return await withReadLock(backup, async (manifest) => {
      const startedChecksum = await checkTarget(target, manifest);
      const authentication = await authenticate(backup, manifest, work);
      const foreign = await findForeignBucket(backup, manifest);
      if (foreign !== undefined) throw damagedBackupError(backup, foreign);
      if (startedChecksum !== manifest.checksum) await markUnfinished(target, manifest);
      work.progress?.expect(totalBytes(manifest));
      const watch = createWatch(work);
      const readBody = (from: string, blob: StoredBlob) => fileChunks(from, blob, watch);
      await restoreAll({ backup, target, manifest, watch, readBody });
      await endRestore(target);
      return { ...toSummary(manifest), authentication };
    });
  } catch (error) {
    throw mapFullDiskError(
      error,
      target.root,
      "Free some space and run the same command again, or remove the folder.",
    );
  }
}

/**
 * Throws unless the target is empty or contains an unfinished restore of the same backup, which is
 * then resumed. Returns the backup checksum from the marker file of that restore.
 */
export async function checkTarget(target: Layout, { checksum }: SealedManifest): Promise<string | undefined> {
  const names = await namesIn(target.root);
  const startedChecksum = names.includes("restore.unfinished")
    ? await readFile(target.restoreMarker, "utf8")
    : undefined;
  if (startedChecksum === undefined && names.length > 0) {
    throw new BackupError(`"${target.root}" is not empty: it holds "${names[0]}".`, [
      "Specify a new or empty folder for the data.",
    ]);
  }
  // Accept an incomplete marker if it is the only file: the restore stopped while writing it.
  if (startedChecksum !== undefined && startedChecksum !== checksum && names.length > 1) {
    throw new BackupError(`"${target.root}" holds a restore of another backup that was not finished.`, [
      "Remove the folder, or specify another one.",
    ]);
  }
  return startedChecksum;
}

/** Call only without a valid marker: while a marker is replaced, the directory looks restored. */
export async function markUnfinished(target: Layout, { checksum }: SealedManifest): Promise<void> {
  const firstCreated = await mkdir(target.root, { recursive: true, mode: privateFolder });
  tightenDirectory(target);
  await writeWhole(target.restoreMarker, Buffer.from(checksum));
  await syncDirectory(target.root);
  syncAncestors(target.root, firstCreated);
}

async function namesIn(directory: string): Promise<string[]> {
  try {
    return (await readdir(directory)).filter((name) => name !== "lost+found");
  } catch (error) {
    if (isMissing(error)) return [];
    if ((error as NodeJS.ErrnoException).code === "ENOTDIR")
      throw new BackupError(`"${directory}" is not a folder.`);
    throw error;
  }
}

/** Makes the directory a store that can be opened. */
export async function endRestore(target: Layout): Promise<void> {
  await rm(target.restoreMarker);
  await syncDirectory(target.root);
}

export interface Restore {
  /** Where the databases are. */
  readonly backup: BackupLayout;
  readonly target: Layout;
  readonly manifest: SealedManifest;
  readonly watch: Watch;
  /** Yields the verified bytes of a body. */
  readBody(path: string, blob: StoredBlob): AsyncIterable<Uint8Array>;
  /** Returns the path of a body for messages. Default: its path in the backup's folder. */
  readonly bodyPath?: ((blob: StoredBlob) => string) | undefined;
}

export async function restoreAll(restore: Restore): Promise<void> {
  const { backup, target, manifest, watch, bodyPath } = restore;
  for (const path of [target.processes, target.trash, target.buckets])
    await mkdir(path, { recursive: true, mode: privateFolder });
  const folders = new Map<string, FolderMaker>();
  for (const { id } of manifest.buckets) {
    const { blobs, segments, open, pins } = bucketPaths(target, id);
    for (const path of [blobs, segments, open, pins])
      await mkdir(path, { recursive: true, mode: privateFolder });
    folders.set(id, createFolderMaker(blobs));
  }
  await walkBackup(backup, manifest, {
    records: (from, id) => copyWhole(from, bucketPaths(target, id).database, watch),
    registry: (from) => copyWhole(from, target.registry, watch),
    companion: (from, name) => copyWhole(from, join(target.root, name), watch),
    async blob(from, blob) {
      const location = parseBlobId(blob.id);
      const to = blobPath(target, location);
      if (isInSegment(blob.id))
        return restoreIntoSegment(restore, from, blob, { path: to, start: blobOffset(location) });
      await folders.get(location.bucketId)!.make(location.folder);
      if (await isWhole(to, blob)) watch(blob.size);
      else await writeBlob(restore.readBody(from, blob), blob, to);
    },
    bodyPath,
    damage(what) {
      throw damagedBackupError(backup, what);
    },
  });
  for (const [id, made] of folders) {
    await made.sync();
    const { directory, segments } = bucketPaths(target, id);
    await syncDirectory(segments);
    await syncDirectory(directory);
  }
  await syncDirectory(target.buckets);
  await syncDirectory(target.root);
}

export function damagedBackupError({ where }: BackupLayout, what: string): BackupError {
  return new BackupError(`The backup is damaged, so it was not restored: ${what}`, [
    `List all damage with: store restore --verify --from ${where}`,
  ]);
}

/** Restores a blob to its original offset. Bytes that the backup does not contain stay a hole. */
async function restoreIntoSegment(
  { readBody, watch }: Restore,
  from: string,
  blob: StoredBlob,
  to: { readonly path: string; readonly start: number },
): Promise<void> {
  if (existsSync(to.path) && (await isSound(to.path, blob, to.start))) watch(blob.size);
  else await writeIntoSegment(readBody(from, blob), blob, to);
}

/** Whether an interrupted run has already restored the blob. */
async function isWhole(path: string, blob: StoredBlob): Promise<boolean> {
  return (await hasBlob(path, blob)) && isSound(path, blob, 0);
}

async function isSound(path: string, blob: StoredBlob, start: number): Promise<boolean> {
  try {
    await readBlob(path, blob, () => {}, start);
    return true;
  } catch (error) {
    if (error instanceof StoreError) return false;
    throw error;
  }
}
