// Several pieces of work at once, taken one by one from a list that need not fit into memory.
import { setImmediate } from "node:timers/promises";

/** After so many, whatever else the process has to do gets its turn. */
const breathEvery = 256;

/** The first failure ends it, once what is under way has ended. */
export async function inParallel<T>(
  items: Iterable<T>,
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const iterator = items[Symbol.iterator]();
  let failure: { readonly error: unknown } | undefined;
  let taken = 0;

  async function takeAll(): Promise<void> {
    try {
      for (let next = iterator.next(); next.done !== true; next = iterator.next()) {
        if (++taken % breathEvery === 0) await setImmediate();
        if (failure !== undefined) return;
        await work(next.value);
      }
    } catch (error) {
      failure ??= { error };
    }
  }

  await Promise.all(Array.from({ length: atOnce }, takeAll));
  if (failure === undefined) return;
  iterator.return?.();
  throw failure.error;
}
