// What a proof is: work that goes on until its budget is used up, breaks loudly, and leaves figures.

import { randomInt } from "node:crypto";
import type { TestContext } from "node:test";

/** How much is done: so many units of work, or as many as fit into a time. */
export interface Budget {
  /** All chance comes from it; the same seed tries the same again. */
  readonly seed: number;
  /** Asked before each piece of work, with what is done so far in the proof's unit. */
  more(done: number): boolean;
  /** One line for whoever watches a long run. */
  say(line: string): void;
}

/** Counted, never estimated: they go into docs/operating.md as they are. */
export type Figures = Readonly<Record<string, number>>;

export interface Proof {
  readonly name: string;
  /** What the budget counts, in the plural: kills, commands, flips. */
  readonly unit: string;
  /** How many of them the long run does. */
  readonly bar: number;
  /** Throws at the first violation, with all that is needed to see it again. */
  run(budget: Budget): Promise<Figures>;
}

/** Why a proof cannot be made on this machine. Told loudly, never taken for a pass. */
export class NotTested extends Error {}

/** STORE_TEST_SEED, or one nobody has tried. */
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
 * The share of a proof that `npm run test:slow` runs: so many units, or fewer when they take longer than the time, which
 * STORE_PROOF_SECONDS makes shorter.
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
