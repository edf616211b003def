// Bodies that identify their write, so that torn or foreign bytes are detected in any block.
import { createHash } from "node:crypto";

export const KiB = 1024;
export const MiB = 1024 * KiB;

/** One write of a key: its unique name and its number of bytes. */
export interface Value {
  readonly name: string;
  readonly size: number;
}

export function bytesOf(key: string, { name, size }: Value): Buffer {
  const pattern = `${createHash("sha256").update(`${key}\n${name}\n${size}`).digest("hex")} ${name} `;
  // The pattern has an odd length, so that no two blocks of a body are equal.
  return Buffer.alloc(size, pattern.length % 2 === 1 ? pattern : `${pattern}.`);
}

export function digestOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

export interface StreamOptions {
  readonly chunk?: number;
  /** Called with the offset of every chunk before it is sent. If it throws, the stream fails. */
  readonly before?: (offset: number) => void | Promise<void>;
}

/** Returns a stream that produces each chunk only when it is pulled. */
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
