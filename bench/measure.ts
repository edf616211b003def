// How things are measured: lanes of work for a while, rounds of several contenders in turn, medians.

export interface Figure {
  readonly median: number;
  readonly low: number;
  readonly high: number;
  readonly rounds: readonly number[];
}

/** Runs one round and answers its figure. */
export type Round = () => Promise<number> | number;

export interface Pace {
  readonly rounds: number;
  /** How long a round lasts. */
  readonly seconds: number;
  /** How many lanes work at once, where a section does not say otherwise. */
  readonly lanes: readonly number[];
  /** No round moves more bytes than this. */
  readonly bytes: number;
}

/**
 * One discarded round of each, then rounds in turn, so that whatever else the machine does meets all alike.
 * Garbage is collected between rounds: nobody pays for what another left behind.
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

/** How much of another figure this one reaches, pair by pair of neighbouring rounds. */
export function ratio(of: Figure, to: Figure): number {
  return median(of.rounds.map((value, index) => value / (to.rounds[index] ?? Number.NaN)));
}

export interface Work {
  readonly lanes: number;
  readonly seconds: number;
  /** At most this many operations in all, but one in every lane. */
  readonly operations?: number;
}

/** Operations per second of so many lanes, each awaiting one operation after the other. */
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

/** The same for work that does not wait: as fast as one thread goes. */
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

/** Milliseconds that one piece of work takes. */
export async function milliseconds(work: () => Promise<unknown>): Promise<number> {
  const begin = performance.now();
  await work();
  return performance.now() - begin;
}

/** Calls the operation for 0 … count - 1 from so many lanes. */
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
