// Options of a scrub and the report it returns.
import type { Damage } from "../engine.ts";

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
