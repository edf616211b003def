// Processes a list with limited concurrency. The list need not fit into memory.
import { setImmediate } from "node:timers/promises";

/**
 * The loop yields to the event loop after this many items, so that a long list does not block it.
 */
const yieldEvery = 256;

/** After a failure or an abort, starts no more work, waits for the work in flight, and throws. */
export async function forEachLimit<T>(
  items: Iterable<T> | AsyncIterable<T>,
  { concurrency, signal }: { concurrency: number; signal?: AbortSignal | undefined },
  work: (item: T) => Promise<void>,
): Promise<void> {
  const iterator = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
  let failure: { readonly error: unknown } | undefined;
  let taken = 0;

  async function takeItems(): Promise<void> {
    try {
      signal?.throwIfAborted();
      for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) {
        if (failure !== undefined) return;
        signal?.throwIfAborted();
        if (++taken % yieldEvery === 0) await setImmediate();
        await work(next.value);
      }
    } catch (error) {
      failure ??= { error };
    }
  }

  await Promise.all(Array.from({ length: concurrency }, takeItems));
  if (failure === undefined) return;
  await iterator.return?.();
  throw failure.error;
}
