// Small pieces of byte-stream plumbing that several parts of the engine share.

export interface BufferWish {
  readonly size: number;
  /** Shared memory can be read by other threads where it is. */
  readonly memory: "own" | "shared";
}

export function allocate({ size, memory }: BufferWish): Buffer {
  return memory === "shared" ? Buffer.from(new SharedArrayBuffer(size)) : Buffer.allocUnsafeSlow(size);
}

/** What `set` does. Into shared memory that one moves a byte at a time where the two are not aligned alike. */
export function copyTo(target: Buffer, bytes: Uint8Array, at: number): void {
  if (!(target.buffer instanceof SharedArrayBuffer)) target.set(bytes, at);
  else if (bytes.length > 0) target.fill(bytes, at, at + bytes.length);
}

function fits({ length, buffer }: Buffer, { size, memory }: BufferWish): boolean {
  return length === size && buffer instanceof SharedArrayBuffer === (memory === "shared");
}

/**
 * The same bytes, copied into buffers of its own, each filled to its size but for the last. Two buffers take
 * turns: what is yielded stays as it is until the piece after the next is asked for.
 */
export async function* rechunk(
  chunks: AsyncIterable<Uint8Array>,
  size: number | (() => BufferWish),
): AsyncGenerator<Uint8Array> {
  const nextWish = typeof size === "number" ? (): BufferWish => ({ size, memory: "own" }) : size;
  let spare: Buffer | undefined;
  let block = allocate(nextWish());
  let filled = 0;
  const takeTurns = () => {
    const wish = nextWish();
    const next = spare !== undefined && fits(spare, wish) ? spare : allocate(wish);
    spare = block;
    block = next;
    filled = 0;
  };
  for await (const chunk of chunks) {
    let taken = 0;
    while (taken < chunk.length) {
      const piece = chunk.subarray(taken, taken + block.length - filled);
      copyTo(block, piece, filled);
      filled += piece.length;
      taken += piece.length;
      if (filled === block.length) {
        yield block;
        takeTurns();
      }
    }
  }
  if (filled > 0) yield block.subarray(0, filled);
}

export async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for await (const chunk of chunks) pieces.push(chunk);
  return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
}

export async function* once(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  if (bytes.length > 0) yield bytes;
}
