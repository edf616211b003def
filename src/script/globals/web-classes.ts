// Web classes that replace Node's own for scripts, because older Node versions lack them or behave
// differently.
import { addBlobMembers } from "./blob-members.ts";
import { CompressionStream, DecompressionStream } from "./compression-streams.ts";
import { decodesWindows1252, TextDecoder } from "./text-decoder.ts";

type Values = Readonly<Record<string, unknown>>;

/** Globals that Node defines as accessors; the standard requires plain properties. */
const lazyClasses: readonly string[] = [
  "Blob",
  "ByteLengthQueuingStrategy",
  "CountQueuingStrategy",
  "ReadableByteStreamController",
  "ReadableStream",
  "ReadableStreamBYOBReader",
  "ReadableStreamBYOBRequest",
  "ReadableStreamDefaultController",
  "ReadableStreamDefaultReader",
  "TextDecoderStream",
  "TextEncoderStream",
  "TransformStream",
  "TransformStreamDefaultController",
  "WritableStream",
  "WritableStreamDefaultController",
  "WritableStreamDefaultWriter",
];

/** Adds missing members to prototypes, and returns the classes for the global scope. */
export function webClasses(): Values {
  addBlobMembers();
  const scope = globalThis as unknown as Values;
  return {
    ...Object.fromEntries(lazyClasses.map((name) => [name, scope[name]])),
    CompressionStream,
    DecompressionStream,
    ...(decodesWindows1252() ? {} : { TextDecoder }),
  };
}
