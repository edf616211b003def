// FixedLengthStream: a transform stream that declares its length in advance, for `put`.
import { Readable } from "node:stream";
import { type ReadableStream, TransformStream } from "node:stream/web";

const lengths = new WeakMap<ReadableStream, number>();

/** Records the length of a stream for later use by `put` or `fetch`. */
export function declareLength(stream: ReadableStream, length: number): void {
  lengths.set(stream, length);
}

/** Returns the declared length of a stream; undefined if it has none or was partly read. */
export function declaredLength(stream: ReadableStream): number | undefined {
  const length = lengths.get(stream);
  if (length === undefined || !Readable.isDisturbed(stream as unknown as NodeJS.ReadableStream))
    return length;
  return undefined;
}

/** The number of bytes differs from the declared length. Both sides of the stream fail with it. */
export class LengthError extends TypeError {}

export class FixedLengthStream extends TransformStream<Uint8Array, Uint8Array> {
  constructor(expectedLength: number | bigint) {
    const length = Number(expectedLength);
    if (!Number.isSafeInteger(length) || length < 0) {
      throw new TypeError(
        `FixedLengthStream needs a whole number of bytes, 0 or more: ${String(expectedLength)}`,
      );
    }
    let seen = 0;
    super({
      transform(chunk, controller) {
        seen += chunk.byteLength;
        if (seen > length)
          throw new LengthError(`FixedLengthStream was given more than its ${length} bytes.`);
        controller.enqueue(chunk);
      },
      flush() {
        if (seen < length)
          throw new LengthError(`FixedLengthStream ended after ${seen} of its ${length} bytes.`);
      },
    });
    declareLength(this.readable, length);
  }
}
