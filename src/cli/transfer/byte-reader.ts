// Reads a stream in the pieces a caller asks for: so many bytes, then so many more, with nothing read ahead
// but the chunk at hand. An interruption ends a read that waits for bytes that may never come.

export interface ByteReader {
  /** At most so many of the bytes that follow, as they come. */
  take(maxBytes: number): AsyncGenerator<Uint8Array>;
  /** Whether nothing follows. Waits until that is known. */
  isAtEnd(): Promise<boolean>;
}

export function createByteReader(chunks: AsyncIterable<Uint8Array>, signal: AbortSignal): ByteReader {
  const iterator = chunks[Symbol.asyncIterator]();
  let rest: Uint8Array | undefined;

  /** The chunk at hand, or the next one that is not empty; undefined at the end. */
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

/** Not Promise.race with one promise for all reads: that would remember every read until the end. */
function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
