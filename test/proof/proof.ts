// The interface of a proof: work that uses up its budget, throws on a violation and reports counts.
import { randomInt } from "node:crypto";
import type { TestContext } from "node:test";

/** The amount of work: a number of units, or as many as fit into a time. */
export interface Budget {
  /** Seed of all randomness: the same seed repeats the run. */
  readonly seed: number;
  /** Returns whether to continue; called before each unit of work with the number of units done. */
  more(done: number): boolean;
  /** Prints one line of progress. */
  say(line: string): void;
}

/** Counts of a run, never estimates: docs/operating.md quotes them. */
export type Figures = Readonly<Record<string, number>>;

export interface Proof {
  readonly name: string;
  /** The unit of the budget, in the plural: kills, commands, flips. */
  readonly unit: string;
  /** Number of units in the long run. */
  readonly bar: number;
  /** Throws at the first violation, with everything needed to reproduce it. */
  run(budget: Budget): Promise<Figures>;
}

/** Thrown if the proof cannot run on this machine. Reported as "NOT TESTED", never as a pass. */
export class NotTested extends Error {}

/** Returns the seed in STORE_TEST_SEED, or a random seed. */
export function chooseSeed(given = process.env.STORE_TEST_SEED): number {
  return given === undefined ? randomInt(2 ** 31) : Number(given);
}

export function byAmount(amount: number, seed: number, say: (line: string) => void): Budget {
  return { seed, say, more: (done) => done < amount };
}

export function byTime(milliseconds: number, seed: number, say: (line: string) => void): Budget {
  const end = Date.now() + milliseconds;
  return { seed, say, more: () => Date.now() < end };
}

/**
 * Runs the share of a proof in `npm run test:slow`: `amount` units, or fewer if the time is up.
 * STORE_PROOF_SECONDS can shorten that time.
 */
export async function runQuickShare(
  t: TestContext,
  proof: Proof,
  amount: number,
  seconds = 6,
): Promise<void> {
  const seed = chooseSeed();
  const most = Number(process.env.STORE_PROOF_SECONDS ?? seconds);
  const end = Date.now() + Math.min(seconds, most) * 1000;
  const budget: Budget = {
    seed,
    say: () => {},
    more: (done) => done === 0 || (done < amount && Date.now() < end),
  };
  try {
    const figures = await proof.run(budget);
    t.diagnostic(`${proof.name}: ${JSON.stringify(figures)}`);
  } catch (error) {
    if (error instanceof NotTested) {
      console.error(`NOT TESTED: ${proof.name}. ${error.message}`);
      return t.skip(error.message);
    }
    throw seededError(proof, seed, error);
  }
}

export function seededError({ name }: Proof, seed: number, error: unknown): Error {
  const what = error instanceof Error ? error.message : String(error);
  return new Error(`${name} failed with STORE_TEST_SEED=${seed}: ${what}`, { cause: error });
}
