// Small pieces of byte-stream plumbing that several parts of the engine share.

export interface BufferRequest {
  readonly size: number;
  /** Shared memory can be read by other threads where it is. */
  readonly memory: "own" | "shared";
}

export function allocate({ size, memory }: BufferRequest): Buffer {
  return memory === "shared" ? Buffer.from(new SharedArrayBuffer(size)) : Buffer.allocUnsafeSlow(size);
}

/** What `set` does. Into shared memory that one moves a byte at a time where the two are not aligned alike. */
export function copyTo(target: Buffer, bytes: Uint8Array, at: number): void {
  if (!(target.buffer instanceof SharedArrayBuffer)) target.set(bytes, at);
  else if (bytes.length > 0) target.fill(bytes, at, at + bytes.length);
}

function fits({ length, buffer }: Buffer, { size, memory }: BufferRequest): boolean {
  return length === size && buffer instanceof SharedArrayBuffer === (memory === "shared");
}

/** How many of them take turns. */
export interface RingRequest extends BufferRequest {
  readonly buffers: number;
}

/** Buffers that take turns: the one that was given out longest ago comes again, once it is free. */
export function createRing(
  nextRequest: () => RingRequest,
  whenFree: (buffer: Buffer) => Promise<void> | undefined,
  make: (request: BufferRequest) => Buffer = allocate,
): () => Promise<Buffer> {
  let issued: Buffer[] = [];
  return async () => {
    const request = nextRequest();
    issued = issued.filter((buffer) => fits(buffer, request));
    const isFull = issued.length >= request.buffers;
    const next = isFull ? issued.shift()! : make(request);
    if (isFull) await whenFree(next);
    issued.push(next);
    return next;
  };
}

/** The same bytes, copied into buffers that are asked for one by one, each filled to its size but for the last. */
export async function* refill(
  chunks: AsyncIterable<Uint8Array>,
  nextBuffer: () => Promise<Buffer>,
): AsyncGenerator<Uint8Array> {
  let block: Buffer | undefined;
  let filled = 0;
  for await (const chunk of chunks) {
    let taken = 0;
    while (taken < chunk.length) {
      block ??= await nextBuffer();
      const slice = chunk.subarray(taken, taken + block.length - filled);
      copyTo(block, slice, filled);
      filled += slice.length;
      taken += slice.length;
      if (filled === block.length) {
        yield block;
        block = undefined;
        filled = 0;
      }
    }
  }
  if (block !== undefined) yield block.subarray(0, filled);
}

/** The same in blocks of one size: each stays as it is until the one after the next is asked for. */
export function rechunk(chunks: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<Uint8Array> {
  const nextBuffer = createRing(
    () => ({ size, memory: "own", buffers: 2 }),
    () => undefined,
  );
  return refill(chunks, nextBuffer);
}

export async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const collected: Uint8Array[] = [];
  for await (const chunk of chunks) collected.push(chunk);
  return collected.length === 1 ? collected[0]! : Buffer.concat(collected);
}

export async function* once(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  if (bytes.length > 0) yield bytes;
}
