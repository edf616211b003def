// Types of backups: their content, options, progress, reports and errors.

export interface BackupTotals {
  readonly buckets: number;
  readonly objects: number;
  /** Total size of the objects, without checksums and encryption overhead. */
  readonly bytes: number;
}

export interface BackupSummary extends BackupTotals {
  /** Time of the backup in milliseconds since the epoch. */
  readonly made: number;
  /** Number of body files in the backup. */
  readonly files: number;
  /** Names of other files of the data directory that are in the backup, such as the key. */
  readonly companions: readonly string[];
  /** Names of files that are also needed to restore, but are not in the backup. */
  readonly elsewhere: readonly string[];
}

/**
 * How a manifest was authenticated. "own key": by the key in the backup, which may be forged too.
 * "unverified": no key was given. "missing": made by an old version. "no key": the store had none.
 */
export type Authentication = "verified" | "own key" | "unverified" | "missing" | "no key";

export interface RestoreReport extends BackupSummary {
  readonly authentication: Authentication;
}

export interface BackupReport extends BackupSummary {
  /** Number of files copied by this run. The other files were already in the backup. */
  readonly copiedFiles: number;
  readonly copiedBytes: number;
}

export interface BackupDamage {
  readonly what: string;
}

export interface VerifyBackupReport extends RestoreReport {
  readonly damages: readonly BackupDamage[];
}

export interface BackupProgress {
  /** Called with the number of bytes processed since the last call. */
  advance(bytes: number): void;
  /** Called with the estimated total number of bytes. */
  expect(bytes: number): void;
}

export interface BackupWork {
  readonly progress?: BackupProgress | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface BackupOptions extends BackupWork {
  /** Names of additional files in the data directory to back up, such as the key. */
  readonly companions?: readonly string[];
  /** Names of additional files that are deliberately not in the backup. */
  readonly elsewhere?: readonly string[];
  /** Returns the store's secret key. Called when the manifest is written. */
  readonly secretKey?: () => Uint8Array | undefined;
}

export interface RestoreOptions extends BackupWork {
  /** The secret key of the store that was backed up. */
  readonly secretKey?: Uint8Array | undefined;
  /** Name of the companion file that contains the key, if the backup includes it. */
  readonly keyCompanion?: string | undefined;
}

/** Days, weeks, months and years. */
export type KeepPeriod = "d" | "w" | "m" | "y";

/** For each period, how many of the latest ones keep their last backup. */
export type KeepRule = ReadonlyMap<KeepPeriod, number>;

export interface OffsiteBackupOptions extends BackupOptions {
  /** Which backups to keep. Default: all. */
  readonly keep?: KeepRule | undefined;
}

export interface PruneReport {
  /** Number of complete backups in the repository. */
  readonly keptBackups: number;
  readonly removedBackups: number;
  /** Number of removed objects: bodies, and databases of removed and interrupted backups. */
  readonly removedObjects: number;
}

export interface OffsiteBackupReport extends BackupReport, PruneReport {
  /** Address of the repository, without credentials. */
  readonly to: string;
  /** Name of the new backup. */
  readonly backup: string;
  readonly isEncrypted: boolean;
}

/** Chooses a backup of a repository. Default: the latest. */
export interface BackupChoice {
  /** Name of the backup, or its random id alone. */
  readonly backup?: string | undefined;
  /** Chooses the latest backup up to this time, in milliseconds since the epoch. */
  readonly at?: number | undefined;
}

export interface OffsiteRestoreOptions extends RestoreOptions, BackupChoice {}

export interface ChosenBackup {
  /** Address of the repository, without credentials. */
  readonly from: string;
  /** Name of the backup that was read. */
  readonly backup: string;
}

export interface StagedSource extends BackupChoice {
  /** Folder or address of the backup, without credentials. */
  readonly from: string;
}

export interface StagedBackup {
  /** The data directory with the restored backup. */
  readonly data: string;
  /** Time of the backup, in milliseconds since the epoch. */
  readonly made: number;
  /** Undefined if an earlier run has restored the backup. */
  readonly report: RestoreReport | undefined;
  /** Removes the data directory, except for the named file, which is moved to the folder. */
  remove(kept: string): Promise<{ readonly keptFile: string | undefined }>;
}

export interface StagedWork {
  /** Throws if the data directory could not be copied to its target. Nothing is written then. */
  check(directory: string): Promise<void>;
  /** Restores the backup into the directory, or resumes a restore. */
  restore(directory: string): Promise<RestoreReport & { readonly backup?: string }>;
}

/** A backup in the listing of a repository. */
export interface ListedBackup {
  readonly backup: string;
  readonly time: number;
  /** Undefined if the manifest cannot be read. */
  readonly totals: BackupTotals | undefined;
}

/** The latest successful backup of a data directory. */
export interface LastBackup {
  /** When the backup began, in milliseconds since the epoch: it contains every earlier write. */
  readonly time: number;
  /** The folder or the address of the S3 service, without credentials. */
  readonly to: string;
  readonly seconds: number;
  /** Total size of the objects in the backup. */
  readonly bytes: number;
}

/** Thrown if a backup cannot be made or is refused. Includes advice for the user. */
export class BackupError extends Error {
  override readonly name = "BackupError";
  readonly hints: readonly string[];

  constructor(message: string, hints: readonly string[] = [], cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.hints = hints;
  }
}
