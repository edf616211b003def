// Reproducible random numbers: every random test has a seed, and a failure reports it.
import { randomInt } from "node:crypto";

export interface Random {
  /** Returns an integer from 0 to `end` - 1. */
  below(end: number): number;
  between(first: number, last: number): number;
  pick<T>(items: readonly T[]): T;
}

export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  // mulberry32: small, fast, and with the same results on every machine.
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
  const below = (end: number) => Math.floor(next() * end);
  return {
    below,
    between: (first, last) => first + below(last - first + 1),
    pick: (items) => items[below(items.length)]!,
  };
}

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
