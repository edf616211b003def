// A pipe that knows how many bytes go through it, so that a stored stream has a declared length.
import { Readable } from "node:stream";

const lengths = new WeakMap<ReadableStream, number>();

/** Notes how many bytes a stream carries, for whoever stores it or sends it on. */
export function declareLength(stream: ReadableStream, length: number): void {
  lengths.set(stream, length);
}

/** What a stream said it would carry, if it said so and no byte of it has been read. */
export function declaredLength(stream: ReadableStream): number | undefined {
  const length = lengths.get(stream);
  if (length === undefined || !Readable.isDisturbed(stream as unknown as NodeJS.ReadableStream))
    return length;
  return undefined;
}

/** The sender broke its word; the stream fails with this on both of its sides. */
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
