// What a scrub is told to do, and what is told of it.
import type { Damage } from "../engine.ts";

export interface ScrubReport {
  /** Milliseconds since the epoch. */
  readonly ended: number;
  readonly objects: number;
  readonly bytes: number;
  readonly damages: number;
}

export interface ScrubProgress {
  /** Whether somebody is at it now. */
  readonly isRunning: boolean;
  /** Of the round under way; undefined between two rounds. */
  readonly round: Omit<ScrubReport, "ended"> | undefined;
  readonly last: ScrubReport | undefined;
}

export interface ScrubOptions {
  /** Told of each damage once, not again in later rounds. */
  readonly onDamage: (damage: Damage) => void;
  /** How long after the last began a round is due. */
  readonly everyMilliseconds?: number | undefined;
  readonly bytesPerSecond?: number | undefined;
  /** How often it is noted how far it is. */
  readonly savedMilliseconds?: number | undefined;
}

export type ScrubOutcome = "ended" | "stopped" | "taken over" | "not due";
