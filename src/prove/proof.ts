// The interface of a proof: work that uses up its budget, throws on a violation and reports counts.

/** The amount of work: a number of units, or as many as fit into a time. */
export interface Budget {
  /** Seed of all randomness: the same seed repeats the run. */
  readonly seed: number;
  /** Existing folder in which the proof creates its stores, and removes them. */
  readonly folder: string;
  /** Returns whether to continue; called before each unit of work with the number of units done. */
  more(done: number): boolean;
  /** Prints one line of progress. */
  say(line: string): void;
}

/** Counts of a run, never estimates. */
export type ProofCounts = Readonly<Record<string, number>>;

export interface Proof {
  readonly name: string;
  /** The unit of the budget, in the plural: kills, commands, flips. */
  readonly unit: string;
  /** Number of units in the long run. */
  readonly bar: number;
  /** Throws at the first violation, with everything needed to reproduce it. */
  run(budget: Budget): Promise<ProofCounts>;
}

/** Thrown if the proof cannot run on this machine. Reported as "NOT TESTED", never as a pass. */
export class NotTested extends Error {}
