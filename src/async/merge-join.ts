// Merge join of two ordered lists that need not fit into memory.
import { compareKeys, type Key } from "../model/key.ts";

export interface KeyedItem {
  readonly key: Key;
}

/** The items with one key, from one or both sides. */
export interface JoinedPair<A, B> {
  readonly key: Key;
  readonly source: A | undefined;
  readonly target: B | undefined;
}

export type Order<A, B> = (a: A, b: B) => number;

/** Joins both sides in key order and yields each key once. Reads one item per side ahead. */
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
