// Backups in the domain's words: what one holds, what making and bringing back one tells, and why it is refused.

export interface BackupTotals {
  readonly buckets: number;
  readonly objects: number;
  /** Of the objects, as their callers count them. */
  readonly bytes: number;
}

export interface BackupSummary extends BackupTotals {
  /** When it was made, in milliseconds since the epoch. */
  readonly made: number;
  /** Files of bodies in the backup. */
  readonly files: number;
  /** Files beside the data that went along, by name. */
  readonly companions: readonly string[];
  /** Those that are needed too, but are kept elsewhere. */
  readonly elsewhere: readonly string[];
}

/**
 * How far a backup's manifest was authenticated: by the key that was given; by the key inside the backup, which
 * proves only that both fit together; not at all, because no key is at hand; not at all, because an earlier
 * Store made the backup; or not at all, because the store had no key.
 */
export type Authentication = "verified" | "own key" | "unverified" | "missing" | "no key";

export interface RestoreReport extends BackupSummary {
  readonly authentication: Authentication;
}

export interface BackupReport extends BackupSummary {
  /** How many of them this run has copied; the others were there from an earlier one. */
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
  /** Bytes dealt with since the last call. */
  advance(bytes: number): void;
  /** Bytes in all, as well as they are known beforehand. */
  expect(bytes: number): void;
}

export interface BackupWork {
  readonly progress?: BackupProgress | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface BackupOptions extends BackupWork {
  /** Names of files in the data directory that are not the store's own but belong to it. */
  readonly companions?: readonly string[];
  /** Names of such files that are left out on purpose, or kept in another place. */
  readonly elsewhere?: readonly string[];
  /** The store's secret key, if it has one by the time the manifest is written. */
  readonly secretKey?: () => Uint8Array | undefined;
}

export interface RestoreOptions extends BackupWork {
  /** The secret key of the store that was backed up. */
  readonly secretKey?: Uint8Array | undefined;
  /** The companion that holds the key, when the backup has it. */
  readonly keyCompanion?: string | undefined;
}

/** Why a backup cannot be made, or is not taken: told to whoever asked for it, with what to do about it. */
export class BackupError extends Error {
  override readonly name = "BackupError";
  readonly hints: readonly string[];

  constructor(message: string, hints: readonly string[] = [], cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.hints = hints;
  }
}
