// Streams used as bodies of puts, and a function that reads a body to its end.
import { KiB, MiB, sameCount } from "./section.ts";

/** The bucket that child processes use for large streams. */
export const streamBucket = "streams";

const chunk = 64 * KiB;

/** Streams `bytes` in chunks of 64 KiB. The chunks are views, not copies. */
export function chunked(bytes: Uint8Array): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (at < bytes.length) controller.enqueue(bytes.subarray(at, at + chunk));
        else controller.close();
        at += chunk;
      },
    },
    { highWaterMark: 0 },
  );
}

/** Streams `bytes` bytes. All chunks are views of one 1 MiB buffer, to use little memory. */
export function repeated(bytes: number): ReadableStream<Uint8Array> {
  const source = Buffer.alloc(MiB, "the same bytes again ");
  let at = 0;
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const from = at % MiB;
        if (at < bytes) controller.enqueue(source.subarray(from, from + Math.min(chunk, bytes - at)));
        else controller.close();
        at += chunk;
      },
    },
    { highWaterMark: 0 },
  );
}

export async function drain(body: ReadableStream<Uint8Array>, bytes: number): Promise<void> {
  const reader = body.getReader();
  let found = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    found += value.length;
  }
  sameCount(found, bytes, "bytes");
}
