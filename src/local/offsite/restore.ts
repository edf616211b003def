// Restores a backup of a repository into an empty directory, or verifies it. Every byte is checked.
import { existsSync } from "node:fs";
import { mkdtemp, rm, rmdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { StoredBlob } from "../../engine/blobs.ts";
import {
  type Authentication,
  BackupError,
  type ChosenBackup,
  type ListedBackup,
  type OffsiteRestoreOptions,
  type RestoreOptions,
  type RestoreReport,
  type VerifyBackupReport,
} from "../../model/backup.ts";
import type { Repository } from "../../repository/repository.ts";
import { authenticate } from "../backup/authentication.ts";
import { findForeignBucket } from "../backup/check.ts";
import type { Watch } from "../backup/copy-blob.ts";
import { mapFullDiskError } from "../backup/full-disk.ts";
import type { BackupLayout } from "../backup/layout.ts";
import { toSummary } from "../backup/manifest.ts";
import { createWatch, totalBytes, verifyAll } from "../backup/reader.ts";
import {
  checkTarget,
  damagedBackupError,
  endRestore,
  markUnfinished,
  restoreAll,
} from "../backup/restore.ts";
import { dataLayout, type Layout } from "../disk/layout.ts";
import { chooseBackup, fetchSnapshot } from "./fetch.ts";
import { DamagedManifest, type FetchedManifest, fetchManifest } from "./manifest.ts";
import { blobName } from "./names.ts";

export async function restoreOffsite(
  repository: Repository,
  directory: string,
  work: OffsiteRestoreOptions = {},
): Promise<RestoreReport & ChosenBackup> {
  const target = dataLayout(resolve(directory));
  const chosen = await chooseBackup(repository, work);
  const manifest = await fetchManifest(repository, chosen);
  const isNew = !existsSync(target.root);
  const startedChecksum = await checkTarget(target, manifest);
  try {
    if (startedChecksum !== manifest.checksum) await markUnfinished(target, manifest);
    const staging = join(target.root, "restore.staging");
    const { backup, authentication } = await fetchChecked(repository, manifest, staging, work).catch(
      async (error: unknown) => {
        if (startedChecksum === undefined) await undo(target, isNew);
        throw error;
      },
    );
    work.progress?.expect(totalBytes(manifest));
    const watch = createWatch(work);
    const readBody = (_: string, blob: StoredBlob) => readRemote(repository, blob, watch);
    await restoreAll({ backup, target, manifest, watch, readBody, bodyPath: blobName });
    await rm(staging, { recursive: true, force: true });
    await endRestore(target);
    return { from: repository.where, backup: chosen.name, ...toSummary(manifest), authentication };
  } catch (error) {
    throw mapFullDiskError(
      error,
      target.root,
      "Free some space and run the same command again, or remove the folder.",
    );
  }
}

/** Removes the traces of a restore that was refused before it began. */
async function undo(target: Layout, isNew: boolean): Promise<void> {
  await rm(join(target.root, "restore.staging"), { recursive: true, force: true });
  await rm(target.restoreMarker, { force: true });
  if (isNew) await rmdir(target.root).catch(() => {});
}

/** Fetches the databases. Throws if they are damaged or not authentic. */
async function fetchChecked(
  repository: Repository,
  manifest: FetchedManifest,
  root: string,
  work: RestoreOptions,
): Promise<{ readonly backup: BackupLayout; readonly authentication: Authentication }> {
  const backup = await fetchSnapshot(repository, manifest, {
    root,
    damage(what) {
      throw new BackupError(`The backup is damaged, so it was not restored: ${what}`, [
        `List all damage with: store restore --verify --from ${repository.where}`,
      ]);
    },
  });
  const authentication = await authenticate(backup, manifest, work);
  const foreign = await findForeignBucket(backup, manifest);
  if (foreign !== undefined) throw damagedBackupError(backup, foreign);
  return { backup, authentication };
}

async function* readRemote(
  { files }: Repository,
  blob: StoredBlob,
  watch: Watch,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of files.read(blobName(blob), blob.size)) {
    watch(chunk.length);
    yield chunk;
  }
}

/** Reads a whole backup and reports all damage. The databases are fetched to a temporary folder. */
export async function verifyOffsite(
  repository: Repository,
  work: OffsiteRestoreOptions = {},
): Promise<VerifyBackupReport & ChosenBackup> {
  const chosen = await chooseBackup(repository, work);
  const manifest = await fetchManifest(repository, chosen);
  const root = await mkdtemp(join(tmpdir(), "store-verify-"));
  try {
    // Files that are missing or not whole are reported when they are read.
    const backup = await fetchSnapshot(repository, manifest, { root, damage: () => {} });
    const watch = createWatch(work);
    const readBody = async (_: string, blob: StoredBlob) => {
      for await (const _chunk of readRemote(repository, blob, watch));
    };
    const report = await verifyAll({ backup, manifest, work, watch, readBody, bodyPath: blobName });
    const damages = report.damages.map(({ what }) => ({ what: what.replaceAll(root, repository.where) }));
    return { from: repository.where, backup: chosen.name, ...report, damages };
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

/** Returns all complete backups, oldest first. */
export async function listOffsite(repository: Repository): Promise<ListedBackup[]> {
  const listed: ListedBackup[] = [];
  for (const backup of await repository.backups()) {
    const totals = await fetchManifest(repository, backup)
      .then(toSummary)
      .catch((error: unknown) => {
        if (error instanceof DamagedManifest) return undefined;
        throw error;
      });
    listed.push({ backup: backup.name, time: backup.time, totals });
  }
  return listed;
}
