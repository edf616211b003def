// Maintenance of whole stores: copy, backup, restore, and migration of a cluster's schema.
import type { CopyOptions } from "./copy/copy-store.ts";
import { unfinishedCopy } from "./copy/documents.ts";
import type {
  BackupOptions,
  BackupReport,
  RestoreOptions,
  RestoreReport,
  VerifyBackupReport,
} from "./model/backup.ts";
import { CopyError, type CopyReport } from "./model/copy.ts";
import { StoreError } from "./model/errors.ts";
import { type ClusterLocation, checkLocation, formatLocation, type Location } from "./model/location.ts";
import { closePorts, openPorts, type Ports } from "./open.ts";

/** Creates the schema of a cluster's database, or migrates an older schema to this version. */
export async function migrateStore(location: ClusterLocation): Promise<{ from: number; to: number }> {
  checkLocation(location);
  const { migrateCluster } = await import("./cluster/open.ts");
  return migrateCluster(location);
}

export interface CopyStoreOptions extends Omit<CopyOptions, "source"> {
  readonly from: Location;
  readonly to: Location;
}

/** Copies a store to another location, or resumes a copy. The source must not change meanwhile. */
export async function copyStore({ from, to, ...options }: CopyStoreOptions): Promise<CopyReport> {
  const { copyAll } = await import("./copy/copy-store.ts");
  const source = await openSide("source", from);
  try {
    const unfinished = await unfinishedCopy(source);
    if (unfinished !== undefined) {
      throw new CopyError(`The source is itself a copy of ${unfinished} that was not finished.`, [
        "Run that store copy again to resume it.",
      ]);
    }
    const target = await openSide("target", to);
    try {
      return await copyAll(source, target, { ...options, source: formatLocation(from) });
    } finally {
      await closePorts(target);
    }
  } finally {
    await closePorts(source);
  }
}

async function openSide(side: "source" | "target", location: Location): Promise<Ports> {
  try {
    return await openPorts(checkLocation(location));
  } catch (error) {
    const why = error instanceof StoreError ? error.detail : error instanceof Error ? error.message : error;
    throw new CopyError(`Cannot open the ${side}, ${formatLocation(location)}: ${why}`, [], error);
  }
}

/** Creates a consistent backup of a data directory, even in use. Replaces an older backup. */
export async function backUpStore(
  directory: string,
  to: string,
  options?: BackupOptions,
): Promise<BackupReport> {
  const { backUp } = await import("./local/backup/backup.ts");
  return backUp(directory, to, options);
}

/** Restores a backup into a new or empty directory. */
export async function restoreStore(
  from: string,
  directory: string,
  work?: RestoreOptions,
): Promise<RestoreReport> {
  const { restore } = await import("./local/backup/restore.ts");
  return restore(from, directory, work);
}

/** Reads a whole backup and reports all damage. */
export async function verifyBackup(from: string, work?: RestoreOptions): Promise<VerifyBackupReport> {
  const reader = await import("./local/backup/reader.ts");
  return reader.verifyBackup(from, work);
}

export interface StoreState {
  /** Schema version of the store; undefined if the store does not exist yet. */
  readonly schema: number | undefined;
  /** Schema version that this package uses. */
  readonly knownSchema: number;
  /** Time of the database of a cluster minus the time of this process, in milliseconds. */
  readonly clockOffset?: number | undefined;
}

/** Reads the state of a store without opening it, so that an older schema is not upgraded. */
export async function inspectStore(location: Location): Promise<StoreState> {
  checkLocation(location);
  if (typeof location !== "string") {
    const { inspectCluster } = await import("./cluster/open.ts");
    return inspectCluster(location);
  }
  const [{ schemaVersion }, { readUserVersion }, { dataLayout }] = await Promise.all([
    import("./local/index/schema.ts"),
    import("./local/index/sqlite.ts"),
    import("./local/disk/layout.ts"),
  ]);
  return { schema: readUserVersion(dataLayout(location).registry), knownSchema: schemaVersion };
}
