// The report of `store prove`: what was tried, what held and what did not.
import type { Machine } from "./machine.ts";
import type { ProofCounts } from "./proof.ts";

export interface ProofResult {
  readonly name: string;
  readonly outcome: "held" | "failed" | "not tested";
  /** What the proof tried, and what of it was simulated. */
  readonly claim: string;
  readonly seconds: number;
  readonly counts: ProofCounts;
  /** Why the proof failed or was not tested. */
  readonly reason?: string;
}

export interface ProveReport {
  readonly seed: number;
  readonly machine: Machine;
  readonly seconds: number;
  /** Whether all proofs ran for their time and held. */
  readonly held: boolean;
  readonly isInterrupted: boolean;
  readonly results: readonly ProofResult[];
}
