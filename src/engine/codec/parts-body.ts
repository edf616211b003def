// The body of an object of many parts, whose list is decoded when it is first needed.
import type { BodyPart } from "../records.ts";
import { type FindParts, indexParts } from "./part-index.ts";
import { decodeManifest, decodeParts } from "./record-codec.ts";

export interface PartsBody {
  readonly storage: "parts";
  /** A long list is decoded when it is first read. */
  readonly parts: readonly BodyPart[];
  /** Finds the parts of a short range without decoding `parts`. Undefined: search `parts`. */
  readonly findParts?: FindParts;
}

/** A shorter list is decoded at once, which takes less time than an index. */
const minIndexedCharacters = 16 * 1024;
/** A larger share of the body is read by the decoded list, which is then kept. */
const maxIndexedShare = 1 / 8;

/** `text` is a verified list of parts, `size` the size of the whole body. */
export function toPartsBody(text: string, size: number): PartsBody {
  if (text.length < minIndexedCharacters) return { storage: "parts", parts: decodeManifest(text) };
  let encoded: string | undefined = text;
  let decoded: readonly BodyPart[] | undefined;
  let find: FindParts | "not indexed" | undefined;
  return {
    storage: "parts",
    get parts() {
      decoded ??= decodeManifest(encoded!);
      // The decoded list replaces the text and its index, so that memory does not hold both.
      encoded = undefined;
      find = "not indexed";
      return decoded;
    },
    findParts(range) {
      if (range.length > size * maxIndexedShare) return undefined;
      find ??= indexParts(encoded!, size, decodeParts) ?? "not indexed";
      return find === "not indexed" ? undefined : find(range);
    },
  };
}
