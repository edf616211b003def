// Several pieces of work at once, taken one by one from a list that need not fit into memory.

/** The first failure ends it, once what is under way has ended. */
export async function inParallel<T>(
  items: Iterable<T> | AsyncIterable<T>,
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const underWay = new Set<Promise<void>>();
  let failure: { readonly error: unknown } | undefined;
  try {
    for await (const item of items) {
      if (failure !== undefined) break;
      const working = work(item)
        .catch((error: unknown) => {
          failure ??= { error };
        })
        .finally(() => underWay.delete(working));
      underWay.add(working);
      if (underWay.size >= atOnce) await Promise.race(underWay);
    }
  } finally {
    await Promise.all(underWay);
  }
  if (failure !== undefined) throw failure.error;
}
