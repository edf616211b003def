// Two ordered lists side by side, neither in memory as a whole, and several pieces of work at once on what they give.
import { compareKeys, type Key } from "../model/key.ts";

export interface KeyedItem {
  readonly key: Key;
}

/** What one or both sides have under a key. */
export interface JoinedPair<A, B> {
  readonly key: Key;
  readonly source: A | undefined;
  readonly target: B | undefined;
}

export type Order<A, B> = (a: A, b: B) => number;

/** Both sides in order, each key once. A side is asked for more only when what it gave before has been taken. */
export async function* mergeJoin<A extends KeyedItem, B extends KeyedItem>(
  source: AsyncIterable<A>,
  target: AsyncIterable<B>,
  order: Order<A, B> = (a, b) => compareKeys(a.key, b.key),
): AsyncGenerator<JoinedPair<A, B>> {
  const left = source[Symbol.asyncIterator]();
  const right = target[Symbol.asyncIterator]();
  try {
    let a = await left.next();
    let b = await right.next();
    while (a.done !== true || b.done !== true) {
      const rank = a.done === true ? 1 : b.done === true ? -1 : order(a.value, b.value);
      const one = rank <= 0 ? (a.value as A) : undefined;
      const other = rank >= 0 ? (b.value as B) : undefined;
      yield { key: (one ?? other)!.key, source: one, target: other };
      if (one !== undefined) a = await left.next();
      if (other !== undefined) b = await right.next();
    }
  } finally {
    await Promise.all([left.return?.(), right.return?.()]);
  }
}

export interface ConcurrencyOptions {
  readonly concurrency: number;
  readonly signal: AbortSignal | undefined;
}

/** Several at once, taken in order. The first failure ends it, once what is under way has ended. */
export async function forEachConcurrent<T>(
  items: AsyncGenerator<T>,
  { concurrency, signal }: ConcurrencyOptions,
  work: (item: T) => Promise<void>,
): Promise<void> {
  let failure: { readonly error: unknown } | undefined;

  async function takeAll(): Promise<void> {
    try {
      for (;;) {
        signal?.throwIfAborted();
        const next = await items.next();
        if (next.done === true || failure !== undefined) return;
        await work(next.value);
      }
    } catch (error) {
      failure ??= { error };
    }
  }

  await Promise.all(Array.from({ length: concurrency }, takeAll));
  await items.return(undefined);
  if (failure !== undefined) throw failure.error;
}
