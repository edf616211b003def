// Formats the values of a bulk get as one JSON object, piece by piece, because JSON can be six times
// as long as a value.
import type { ByteSource } from "../../http/server/listen.ts";
import type { BulkRequest } from "./bulk-request.ts";

export interface BulkValue {
  readonly key: string;
  /** The value as text; undefined if the key is missing. */
  readonly text: string | undefined;
  readonly metadata: string | undefined;
}

/** Maximum number of characters of a value in one piece of the response. */
const pieceCharacters = 64 * 1024;

export function formatValues(values: readonly BulkValue[], request: BulkRequest): string | ByteSource {
  const length = values.reduce((sum, { text = "" }) => sum + text.length, 0);
  if (length <= pieceCharacters) return [...jsonPieces(values, request)].join("");
  return {
    length: undefined,
    async *chunks() {
      for (const piece of jsonPieces(values, request)) yield Buffer.from(piece);
    },
    cancel: async () => {},
  };
}

/** Writes the members one by one: as a property of an object, `__proto__` would be lost. */
function* jsonPieces(values: readonly BulkValue[], { type, withMetadata }: BulkRequest): Generator<string> {
  for (const [at, { key, text, metadata }] of values.entries()) {
    yield `${at === 0 ? "{" : ","}${JSON.stringify(key)}:`;
    if (text === undefined) yield "null";
    else {
      if (withMetadata) yield '{"value":';
      yield* type === "json" ? slices(text) : quotedPieces(text);
      if (withMetadata) yield `,"metadata":${metadata ?? "null"}}`;
    }
  }
  yield "}";
}

function* quotedPieces(text: string): Generator<string> {
  yield '"';
  for (const slice of slices(text)) yield JSON.stringify(slice).slice(1, -1);
  yield '"';
}

function* slices(text: string): Generator<string> {
  let start = 0;
  while (start < text.length) {
    // Do not split a surrogate pair: its halves have no UTF-8 form.
    const end = start + pieceCharacters - (isHighSurrogate(text, start + pieceCharacters - 1) ? 1 : 0);
    yield text.slice(start, end);
    start = end;
  }
}

function isHighSurrogate(text: string, at: number): boolean {
  return (text.charCodeAt(at) & 0xfc00) === 0xd800;
}
