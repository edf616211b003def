// Measures operations in concurrent lanes. Contenders take turns in rounds; medians are compared.

export interface Figure {
  readonly median: number;
  readonly low: number;
  readonly high: number;
  readonly rounds: readonly number[];
}

/** Runs one round and returns its result. */
export type Round = () => Promise<number> | number;

export interface Pace {
  readonly rounds: number;
  /** Duration of a round. */
  readonly seconds: number;
  /** Numbers of concurrent lanes to measure; some sections use their own numbers. */
  readonly lanes: readonly number[];
  /** Maximum number of bytes a round moves. */
  readonly bytes: number;
}

/**
 * Discards one round of each contender, then alternates, so that other load affects all equally.
 * Collects garbage before each round, so that it does not slow down the next contender.
 */
export async function interleave(rounds: number, contenders: readonly Round[]): Promise<Figure[]> {
  const results = contenders.map((): number[] => []);
  for (let round = -1; round < rounds; round++) {
    for (const [index, contender] of contenders.entries()) {
      globalThis.gc?.();
      const result = await contender();
      if (round >= 0) results[index]?.push(result);
    }
  }
  return results.map(figure);
}

export function figure(rounds: readonly number[]): Figure {
  const sorted = rounds.toSorted((a, b) => a - b);
  return { median: median(rounds), low: sorted[0] ?? Number.NaN, high: sorted.at(-1) ?? Number.NaN, rounds };
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** Returns the median of the ratios of neighbouring rounds. */
export function ratio(of: Figure, to: Figure): number {
  return median(of.rounds.map((value, index) => value / (to.rounds[index] ?? Number.NaN)));
}

export interface Work {
  readonly lanes: number;
  readonly seconds: number;
  /** Maximum number of operations in total, but at least one per lane. Default: unlimited. */
  readonly operations?: number;
}

/** Returns operations per second; each lane awaits an operation before it starts the next. */
export async function perSecond(work: Work, operation: (lane: number) => Promise<unknown>): Promise<number> {
  const begin = performance.now();
  const end = begin + work.seconds * 1000;
  const perLane = Math.max(1, Math.floor((work.operations ?? Number.POSITIVE_INFINITY) / work.lanes));
  let done = 0;
  const run = async (lane: number) => {
    let own = 0;
    do {
      await operation(lane);
      own++;
    } while (own < perLane && performance.now() < end);
    done += own;
  };
  await Promise.all(Array.from({ length: work.lanes }, (_, lane) => run(lane)));
  return done / ((performance.now() - begin) / 1000);
}

/** Returns operations per second of synchronous work on one thread. */
export function perSecondSync(seconds: number, operation: () => void): number {
  const begin = performance.now();
  const end = begin + seconds * 1000;
  let done = 0;
  do {
    operation();
    done++;
  } while (performance.now() < end);
  return done / ((performance.now() - begin) / 1000);
}

/** Returns the duration of `work` in milliseconds. */
export async function milliseconds(work: () => Promise<unknown>): Promise<number> {
  const begin = performance.now();
  await work();
  return performance.now() - begin;
}

/** Calls the operation for 0 … count - 1, with at most `lanes` calls in flight. */
export async function forEach(
  count: number,
  lanes: number,
  operation: (index: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const run = async () => {
    while (next < count) await operation(next++);
  };
  await Promise.all(Array.from({ length: Math.min(lanes, count) }, run));
}
