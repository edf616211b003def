// Reproducible random numbers: every random test has a seed, and a failure reports it.
import { randomInt } from "node:crypto";
import { createRandom, type Random } from "../../src/prove/random.ts";

export { createRandom, type Random };

/** Runs with a new seed, or with the seed in STORE_TEST_SEED to reproduce a failure. */
export async function seeded(work: (random: Random, seed: number) => Promise<void>): Promise<void> {
  const given = process.env.STORE_TEST_SEED;
  const seed = given === undefined ? randomInt(2 ** 31) : Number(given);
  try {
    await work(createRandom(seed), seed);
  } catch (error) {
    const what = error instanceof Error ? error.message : String(error);
    throw new Error(`Failed with STORE_TEST_SEED=${seed}: ${what}`, { cause: error });
  }
}
