// Chooses a backup of a repository and fetches its databases into a folder of this machine, laid out
// as a backup in a folder, so that both kinds of backups are checked by the same code.
import { mkdir, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { type BackupChoice, BackupError } from "../../model/backup.ts";
import { StoreError } from "../../model/errors.ts";
import type { BackupRef, Repository } from "../../repository/repository.ts";
import { writeChunks } from "../backup/copy-blob.ts";
import { type BackupLayout, backupLayout, snapshotLayout } from "../backup/layout.ts";
import { privateFolder } from "../disk/private-files.ts";
import type { FetchedManifest } from "./manifest.ts";
import { snapshotFiles } from "./upload.ts";

/** Default: the latest backup. */
export async function chooseBackup(repository: Repository, { backup, at }: BackupChoice): Promise<BackupRef> {
  const all = await repository.backups();
  const { where } = repository;
  if (all.length === 0) {
    throw new BackupError(`No backup at ${where} is complete: the first one was never finished.`, [
      `Run it again: store backup --to ${where}`,
    ]);
  }
  const list = `List the backups: store backup list --from ${where}`;
  if (backup !== undefined) {
    const found = all.find(({ name, id }) => name === backup || id === backup);
    if (found === undefined) throw new BackupError(`There is no backup "${backup}" at ${where}.`, [list]);
    return found;
  }
  const found = all.findLast(({ time }) => at === undefined || time <= at);
  if (found !== undefined) return found;
  const oldest = new Date(all[0]!.time).toISOString();
  throw new BackupError(`There is no backup that old at ${where}: the oldest is of ${oldest}.`, [list]);
}

/** Fetches the databases into a new folder. Calls `damage` for each file that is not whole. */
export async function fetchSnapshot(
  repository: Repository,
  manifest: FetchedManifest,
  { root, damage }: { readonly root: string; damage(what: string): void },
): Promise<BackupLayout> {
  await rm(root, { recursive: true, force: true });
  const backup = backupLayout(root, repository.where);
  const snapshot = snapshotLayout(backup, manifest.snapshot);
  await mkdir(snapshot.companions, { recursive: true, mode: privateFolder });
  for (const { name, entry, path } of snapshotFiles(snapshot, manifest)) {
    await mkdir(dirname(path), { recursive: true, mode: privateFolder });
    try {
      const { sha256 } = await writeChunks(path, repository.files.read(name, entry.bytes));
      if (sha256 !== entry.sha256) damage(`The object "${name}" does not match the manifest's checksum.`);
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      damage(error.detail);
    }
  }
  return backup;
}
