// Budgets of the proofs in tests: a share in `npm run test:slow`, the long run in the soak.
import { randomInt } from "node:crypto";
import { tmpdir } from "node:os";
import type { TestContext } from "node:test";
import { type Budget, NotTested, type Proof } from "../../src/prove/proof.ts";

export type { ProofCounts as Figures } from "../../src/prove/proof.ts";
export { type Budget, NotTested, type Proof };

/** Returns the seed in STORE_TEST_SEED, or a random seed. */
export function chooseSeed(given = process.env.STORE_TEST_SEED): number {
  return given === undefined ? randomInt(2 ** 31) : Number(given);
}

export function byAmount(amount: number, seed: number, say: (line: string) => void): Budget {
  return { seed, say, folder: tmpdir(), more: (done) => done < amount };
}

export function byTime(milliseconds: number, seed: number, say: (line: string) => void): Budget {
  const end = Date.now() + milliseconds;
  return { seed, say, folder: tmpdir(), more: () => Date.now() < end };
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
    folder: tmpdir(),
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
