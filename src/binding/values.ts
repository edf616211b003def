// The values a script may store, as sources for the engine: all the types of spec 4.
import type { ByteStream, Source } from "../engine/engine.ts";
import { StoreError } from "../model/errors.ts";
import { describe, toBytes } from "./arguments.ts";
import { declaredLength, LengthError } from "./fixed-length-stream.ts";

/** `null` is an empty value where the method takes one. */
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
  if (stream.locked) throw new TypeError("The stream is locked to a reader: pass one that nobody reads yet.");
  const reader: ReadableStreamDefaultReader<unknown> = stream.getReader();
  let ended = false;
  return {
    length,
    async *chunks() {
      for (;;) {
        const { done, value } = await reader.read().catch(asIncomplete);
        if (done) break;
        const bytes = toBytes(value);
        if (bytes === undefined) throw new TypeError(`The stream gave ${describe(value)} instead of bytes.`);
        yield bytes;
      }
      ended = true;
      reader.releaseLock();
    },
    async cancel(reason) {
      if (ended) return;
      ended = true;
      // A stream that failed answers a cancel with its own error, which the read has told already.
      await reader.cancel(reason).catch(() => {});
    },
  };
}

/** A stream of declared length that does not keep to it is a fault of the body; any other error is its own. */
function asIncomplete(error: unknown): never {
  throw error instanceof LengthError ? new StoreError("IncompleteBody", { cause: error }) : error;
}

/** Tells the sender of a stream that nobody will read it. */
export async function cancelSource(source: Source, reason: unknown): Promise<void> {
  if (!(source instanceof Uint8Array)) await source.cancel(reason);
}
