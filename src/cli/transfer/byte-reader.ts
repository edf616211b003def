// Reads a stream in pieces of requested sizes, without reading ahead beyond the current chunk.
// An abort interrupts a read that waits for bytes.

export interface ByteReader {
  /** Yields the next bytes, at most `maxBytes`. */
  take(maxBytes: number): AsyncGenerator<Uint8Array>;
  /** Whether the stream has ended. Waits for the next byte or the end. */
  isAtEnd(): Promise<boolean>;
}

export function createByteReader(chunks: AsyncIterable<Uint8Array>, signal: AbortSignal): ByteReader {
  const iterator = chunks[Symbol.asyncIterator]();
  let rest: Uint8Array | undefined;

  /** Returns the current chunk or the next non-empty one; undefined at the end. */
  async function fill(): Promise<Uint8Array | undefined> {
    while (rest === undefined || rest.length === 0) {
      const next = await unlessAborted(iterator.next(), signal);
      if (next.done === true) return undefined;
      rest = next.value;
    }
    return rest;
  }

  return {
    async *take(maxBytes) {
      let left = maxBytes;
      while (left > 0) {
        const chunk = await fill();
        if (chunk === undefined) return;
        const slice = chunk.subarray(0, left);
        rest = chunk.subarray(slice.length);
        left -= slice.length;
        yield slice;
      }
    },
    isAtEnd: async () => (await fill()) === undefined,
  };
}

/** Rejects on abort. Promise.race with a shared abort promise would keep all results in memory. */
function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
