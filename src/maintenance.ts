// Maintenance of whole stores: copy, backup, restore, and migration of a cluster's schema.
import type { CopyOptions } from "./copy/copy-store.ts";
import { checkTarget, unfinishedCopy } from "./copy/documents.ts";
import type {
  BackupOptions,
  BackupReport,
  ChosenBackup,
  LastBackup,
  ListedBackup,
  OffsiteBackupOptions,
  OffsiteBackupReport,
  OffsiteRestoreOptions,
  RestoreOptions,
  RestoreReport,
  StagedBackup,
  StagedSource,
  StagedWork,
  VerifyBackupReport,
} from "./model/backup.ts";
import { CopyError, type CopyReport, type CopyWork } from "./model/copy.ts";
import { StoreError } from "./model/errors.ts";
import { lastBackupDocument, parseLastBackup } from "./model/last-backup.ts";
import {
  type ClusterLocation,
  checkLocation,
  formatLocation,
  type Location,
} from "./model/names/location.ts";
import { closePorts, openPorts, type Ports } from "./open.ts";
import type { Repository, RepositoryOptions } from "./repository/repository.ts";

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

export interface CopySnapshotOptions extends CopyWork {
  readonly from: ClusterLocation;
  /** Data directory: new, empty, or an earlier copy of the same cluster. */
  readonly to: string;
}

/** Copies a cluster as of one instant, even in use. An earlier copy is brought up to date. */
export async function copyClusterSnapshot(options: CopySnapshotOptions): Promise<CopyReport> {
  const { from, to, ...work } = options;
  const [{ copyAll }, { openClusterSnapshot }] = await Promise.all([
    import("./copy/copy-store.ts"),
    import("./cluster/snapshot.ts"),
  ]);
  checkLocation(from);
  const snapshot = await withSide("source", from, () => openClusterSnapshot(from));
  try {
    const target = await openSide("target", to);
    try {
      const source = formatLocation(from);
      const report = await copyAll(snapshot, target, { ...work, source, existing: "update" });
      snapshot.assertHeld();
      return report;
    } finally {
      await closePorts(target);
    }
  } finally {
    await snapshot.close();
  }
}

/** Throws unless a copy to the target can begin or be resumed. Changes nothing. */
export async function checkCopyTarget(from: Location, to: Location): Promise<void> {
  const target = await openSide("target", to);
  try {
    await checkTarget(target, formatLocation(from));
  } finally {
    await closePorts(target);
  }
}

function openSide(side: Side, location: Location): Promise<Ports> {
  return withSide(side, location, () => {
    const checked = checkLocation(location);
    // Everything is read once, so a cache would only lose what it has.
    return openPorts(typeof checked === "string" ? checked : { ...checked, cache: undefined });
  });
}

type Side = "source" | "target";

/** Names the side in the error if `open` fails. */
async function withSide<T>(side: Side, location: Location, open: () => Promise<T>): Promise<T> {
  try {
    return await open();
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

/** Returns the latest successful backup by this program; the documents are those of the store. */
export async function readLastBackup(
  location: Location,
  documents?: Pick<Ports["records"]["documents"], "get">,
): Promise<LastBackup | undefined> {
  if (typeof location === "string") {
    const lastBackup = await import("./local/backup/last-backup.ts");
    return lastBackup.readLastBackup(location);
  }
  const { kind, name } = lastBackupDocument;
  return parseLastBackup((await documents?.get(kind, name))?.text ?? "");
}

/** Records in a cluster that its copy in a data directory was backed up. */
export async function recordClusterBackup(location: ClusterLocation, copy: string): Promise<void> {
  const last = await readLastBackup(copy);
  if (last === undefined) return;
  const { kind, name } = lastBackupDocument;
  const ports = await openPorts({ ...location, cache: undefined });
  try {
    const { documents } = ports.records;
    const earlier = await documents.get(kind, name);
    // After a conflict, the record of another backup that has just ended stays.
    await documents.put(kind, name, JSON.stringify(last), earlier?.revision);
  } finally {
    await closePorts(ports);
  }
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

/** Restores a backup into a folder from which it is copied to a cluster. */
export async function stageBackup(
  folder: string,
  source: StagedSource,
  work: StagedWork,
): Promise<StagedBackup> {
  const staged = await import("./local/offsite/staged-restore.ts");
  return staged.stageBackup(folder, source, work);
}

/** Reads a whole backup and reports all damage. */
export async function verifyBackup(from: string, work?: RestoreOptions): Promise<VerifyBackupReport> {
  const reader = await import("./local/backup/reader.ts");
  return reader.verifyBackup(from, work);
}

/** Adds a consistent backup of a data directory, even in use, to a repository on an S3 service. */
export function backUpStoreOffsite(
  directory: string,
  to: RepositoryOptions,
  options?: OffsiteBackupOptions,
): Promise<OffsiteBackupReport> {
  return withRepository({ ...to, absent: "create" }, options?.signal, async (repository) => {
    const { backUpOffsite } = await import("./local/offsite/backup.ts");
    return backUpOffsite(directory, repository, options);
  });
}

/** Restores a backup of a repository into a new or empty directory. */
export function restoreStoreOffsite(
  from: RepositoryOptions,
  directory: string,
  work?: OffsiteRestoreOptions,
): Promise<RestoreReport & ChosenBackup> {
  return withRepository(from, work?.signal, async (repository) => {
    const { restoreOffsite } = await import("./local/offsite/restore.ts");
    return restoreOffsite(repository, directory, work);
  });
}

/** Reads a whole backup of a repository and reports all damage. */
export function verifyBackupOffsite(
  from: RepositoryOptions,
  work?: OffsiteRestoreOptions,
): Promise<VerifyBackupReport & ChosenBackup> {
  return withRepository(from, work?.signal, async (repository) => {
    const { verifyOffsite } = await import("./local/offsite/restore.ts");
    return verifyOffsite(repository, work);
  });
}

/** Returns the complete backups of a repository, oldest first. */
export function listBackups(from: RepositoryOptions): Promise<ListedBackup[]> {
  return withRepository(from, undefined, async (repository) => {
    const { listOffsite } = await import("./local/offsite/restore.ts");
    return listOffsite(repository);
  });
}

async function withRepository<T>(
  options: RepositoryOptions,
  signal: AbortSignal | undefined,
  work: (repository: Repository) => Promise<T>,
): Promise<T> {
  const { openRepository } = await import("./repository/repository.ts");
  const repository = await openRepository(options);
  // Ends requests in flight and their retries, which would otherwise delay an interruption.
  signal?.addEventListener("abort", repository.close);
  try {
    return await work(repository);
  } finally {
    signal?.removeEventListener("abort", repository.close);
    repository.close();
  }
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
