// Bodies that tell which write they are of, so that a torn or a foreign one is noticed at any block.
import { createHash } from "node:crypto";

export const KiB = 1024;
export const MiB = 1024 * KiB;

/** One write of a key: what names it, and how many bytes it had. */
export interface Value {
  readonly name: string;
  readonly size: number;
}

export function bytesOf(key: string, { name, size }: Value): Buffer {
  const pattern = `${createHash("sha256").update(`${key}\n${name}\n${size}`).digest("hex")} ${name} `;
  // An odd length, so that no two blocks of a body are alike.
  return Buffer.alloc(size, pattern.length % 2 === 1 ? pattern : `${pattern}.`);
}

export function digestOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

export interface StreamOptions {
  readonly chunk?: number;
  /** Called before every chunk with where it begins; what it throws, the stream fails with. */
  readonly before?: (offset: number) => void | Promise<void>;
}

/** A stream of the bytes that gives a chunk only when it is asked for one. */
export function streamOf(bytes: Uint8Array, { chunk = 64 * KiB, before }: StreamOptions = {}) {
  let at = 0;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        await before?.(at);
        if (at < bytes.length) controller.enqueue(Uint8Array.from(bytes.subarray(at, at + chunk)));
        at += chunk;
        if (at >= bytes.length) controller.close();
      },
    },
    { highWaterMark: 0 },
  );
}
