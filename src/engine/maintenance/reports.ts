// Options and reports of maintenance: verify, scrub and sweep.
import type { Key } from "../../model/key.ts";

export interface ScrubReport {
  /** End of the round in milliseconds since the epoch. */
  readonly ended: number;
  readonly objects: number;
  readonly bytes: number;
  readonly damages: number;
}

export interface ScrubProgress {
  /** Whether a process is running the scrub now. */
  readonly isRunning: boolean;
  /** The current round. Undefined between two rounds. */
  readonly round: Omit<ScrubReport, "ended"> | undefined;
  readonly last: ScrubReport | undefined;
}

export interface ScrubOptions {
  /** Called once for each damage found; later rounds do not report it again. */
  readonly onDamage: (damage: Damage) => void;
  /** Time from the start of one round to the start of the next. */
  readonly everyMilliseconds?: number | undefined;
  readonly bytesPerSecond?: number | undefined;
  /** Interval at which progress is saved. */
  readonly savedMilliseconds?: number | undefined;
}

export type ScrubOutcome = "ended" | "stopped" | "taken over" | "not due";

export interface VerifyOptions {
  readonly onProgress?: (done: { readonly objects: number; readonly bytes: number }) => void;
}

export interface VerifyReport {
  readonly buckets: number;
  readonly objects: number;
  /** Number of stored bytes, including encryption overhead. */
  readonly bytes: number;
  readonly damages: readonly Damage[];
  /** Report of the last finished scrub. Undefined if no scrub has finished. */
  readonly lastScrub: ScrubReport | undefined;
}

export interface Damage {
  /** The damaged bucket. Undefined if the damage is not in a bucket. */
  readonly bucket: string | undefined;
  /** The key of the damaged object. Undefined if the damage is not in an object. */
  readonly key: Key | undefined;
  readonly what: string;
}

export interface SweepReport {
  readonly objectsExpired: number;
  readonly objectsMoved: number;
  /** Noncurrent versions and delete markers that lifecycle rules removed. */
  readonly versionsExpired: number;
  readonly uploadsAborted: number;
  readonly uploadsForgotten: number;
  readonly blobsRemoved: number;
}
