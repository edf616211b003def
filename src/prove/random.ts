// Reproducible random numbers: every proof has a seed, and its report names it.

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
