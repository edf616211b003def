// Converts the values that a script may store (spec 4) to sources for the engine.
import { Blob, Buffer } from "node:buffer";
import { ReadableStream } from "node:stream/web";
import type { ByteStream, Source } from "../engine/engine.ts";
import { StoreError } from "../model/errors.ts";
import { describe, toBytes } from "./arguments.ts";
import { declaredLength, LengthError } from "./fixed-length-stream.ts";

/** Converts a value to a source. For `put`, null is an empty value. */
export function toSource(value: unknown, method: "put" | "uploadPart"): Source {
  if (typeof value === "string") return Buffer.from(value);
  if (value === null && method === "put") return new Uint8Array();
  const bytes = toBytes(value);
  if (bytes !== undefined) return bytes;
  if (value instanceof ReadableStream) return streamSource(value, declaredLength(value));
  if (value instanceof Blob) return streamSource(value.stream(), value.size);
  const types = `a ReadableStream, ArrayBuffer, ArrayBufferView, string${method === "put" ? ", null" : ""} or Blob`;
  throw new TypeError(`The value must be ${types}, not ${describe(value)}.`);
}

function streamSource(stream: ReadableStream, length: number | undefined): ByteStream {
  if (stream.locked) throw new TypeError("The stream is locked to a reader: pass a stream without a reader.");
  const reader: ReadableStreamDefaultReader<unknown> = stream.getReader();
  let ended = false;
  return {
    length,
    async *chunks() {
      for (;;) {
        const { done, value } = await reader.read().catch(asIncomplete);
        if (done) break;
        const bytes = toBytes(value);
        if (bytes === undefined)
          throw new TypeError(`The stream contained ${describe(value)} instead of bytes.`);
        yield bytes;
      }
      ended = true;
      reader.releaseLock();
    },
    async cancel(reason) {
      if (ended) return;
      ended = true;
      // After a failed read, cancel rejects with the same error: ignore it.
      await reader.cancel(reason).catch(() => {});
    },
  };
}

/** Throws IncompleteBody for a wrong length; throws other errors of the stream unchanged. */
function asIncomplete(error: unknown): never {
  throw error instanceof LengthError ? new StoreError("IncompleteBody", { cause: error }) : error;
}

/** Cancels a stream that will not be read. */
export async function cancelSource(source: Source, reason: unknown): Promise<void> {
  if (!(source instanceof Uint8Array)) await source.cancel(reason);
}
