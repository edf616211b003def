// Checks the target folder of a backup: it must not be in the data directory, contain other files,
// or hold the backup of another store.
import { existsSync, mkdirSync, readdirSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import { BackupError } from "../../model/backup.ts";
import { syncAncestors } from "../disk/fsync-directory.ts";
import type { Layout } from "../disk/layout.ts";
import { privateFolder, tightenBackup } from "../disk/private-files.ts";
import type { RegisteredBucket } from "../index/bucket-registry.ts";
import { type BackupLayout, backupNames } from "./layout.ts";
import { createLinkCheck } from "./links.ts";
import type { Manifest } from "./manifest.ts";

/** Creates the folder if it does not exist. Throws if the folder cannot be used for a backup. */
export function prepareBackupFolder(source: Layout, { root, blobs, snapshots, lock }: BackupLayout): void {
  const [data, target] = [realPath(source.root) + sep, realPath(root) + sep];
  if (target.startsWith(data) || data.startsWith(target)) {
    throw new BackupError(`"${root}" contains the data directory or is inside it.`, [
      "Specify a folder elsewhere, preferably on another disk.",
    ]);
  }
  const found = statSync(root, { throwIfNoEntry: false });
  if (found !== undefined && !found.isDirectory()) throw new BackupError(`"${root}" is not a folder.`);
  const firstCreated = mkdirSync(root, { recursive: true, mode: privateFolder });
  syncAncestors(root, firstCreated);
  const names = readdirSync(root);
  const foreign = names.find((name) => !backupNames.test(name));
  if (foreign !== undefined) {
    throw new BackupError(`"${root}" is not a backup: it contains other files, such as "${foreign}".`, [
      "Specify a new or empty folder, or one with an earlier backup.",
    ]);
  }
  const checkLinks = createLinkCheck(root);
  for (const name of names) checkLinks(join(root, name));
  tightenBackup([root, blobs, snapshots, lock]);
}

/** Resolves symbolic links. If the path does not exist yet, resolves the links in its parents. */
function realPath(path: string): string {
  if (existsSync(path)) return realpathSync(path);
  const parent = dirname(path);
  return parent === path ? path : join(realPath(parent), basename(path));
}

/** Throws if the folder contains the backup of another store, which would be lost. */
export function checkSameStore(
  buckets: readonly RegisteredBucket[],
  earlier: Manifest | undefined,
  { root }: BackupLayout,
): void {
  if (earlier === undefined || earlier.buckets.length === 0) return;
  const there = new Set(buckets.map(({ id }) => id));
  if (earlier.buckets.some(({ id }) => there.has(id))) return;
  throw new BackupError(`"${root}" holds the backup of another store: they have no bucket in common.`, [
    "Specify another folder, or remove this one if it is no longer needed.",
  ]);
}
