// Web classes that scripts do not take from Node as they are: some are missing in older versions, and some
// behave differently from version to version.
import { addBlobMembers } from "./blob-members.ts";
import { CompressionStream, DecompressionStream } from "./compression-streams.ts";
import { decodesWindows1252, TextDecoder } from "./text-decoder.ts";

type Values = Readonly<Record<string, unknown>>;

/** Node defines these as accessors that load them; the standard wants plain properties. */
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

/** Changes prototypes, and returns the values for the global scope. */
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
