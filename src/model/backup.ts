// Types of backups: their content, options, progress, reports and errors.

export interface BackupTotals {
  readonly buckets: number;
  readonly objects: number;
  /** Bytes of the objects, as their users count them. */
  readonly bytes: number;
}

export interface BackupSummary extends BackupTotals {
  /** When it was made, in milliseconds since the epoch. */
  readonly made: number;
  /** Files of bodies in the backup. */
  readonly files: number;
  /** Names of other files of the data directory that the backup includes. */
  readonly companions: readonly string[];
  /** Names of files that are needed too, but are stored elsewhere. */
  readonly elsewhere: readonly string[];
}

/**
 * How a backup's manifest was authenticated: with the given key ("verified"); with the key inside
 * the backup, which proves only that both belong together ("own key"); or not, because no key was
 * given ("unverified"), an earlier version made the backup ("missing"), or the store had no key
 * ("no key").
 */
export type Authentication = "verified" | "own key" | "unverified" | "missing" | "no key";

export interface RestoreReport extends BackupSummary {
  readonly authentication: Authentication;
}

export interface BackupReport extends BackupSummary {
  /** Files copied by this run; the others were already in the backup. */
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
  /** Bytes processed since the last call. */
  advance(bytes: number): void;
  /** Estimated number of bytes in total. */
  expect(bytes: number): void;
}

export interface BackupWork {
  readonly progress?: BackupProgress | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface BackupOptions extends BackupWork {
  /** Names of files in the data directory that belong to the store, such as its key. */
  readonly companions?: readonly string[];
  /** Names of such files that are left out on purpose, or stored elsewhere. */
  readonly elsewhere?: readonly string[];
  /** The store's secret key, read when the manifest is written. */
  readonly secretKey?: () => Uint8Array | undefined;
}

export interface RestoreOptions extends BackupWork {
  /** The secret key of the store that was backed up. */
  readonly secretKey?: Uint8Array | undefined;
  /** The companion file that contains the key, if the backup has it. */
  readonly keyCompanion?: string | undefined;
}

/** A backup that cannot be made or is refused, with advice for the user. */
export class BackupError extends Error {
  override readonly name = "BackupError";
  readonly hints: readonly string[];

  constructor(message: string, hints: readonly string[] = [], cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.hints = hints;
  }
}
