// Finds the parts of a short range in an encoded list, because decoding a list of 10,000 parts takes
// many times longer than reading 1 KiB. Works for lists whose parts have one size, except the last.
import type { ByteRange } from "../../model/range.ts";
import type { BodyPart } from "../records.ts";

/** Maximum length of the parts at the end of a list that have another size than the first part. */
const maxTailCharacters = 1024;

/** The parts that overlap a range, in order. */
export interface FoundParts {
  readonly segments: readonly BodyPart[];
  /** Offset of the first found part in the body. */
  readonly offset: number;
  /** First part of the body. */
  readonly first: BodyPart;
}

/** Finds the parts that overlap a range. Returns undefined if it lies in no part. */
export type FindParts = (range: ByteRange) => FoundParts | undefined;

/**
 * Indexes a list as `encodeManifest` writes it: `[1,[[number,size,"blob",stored,…],…]]`. `size` is
 * that of the whole body. Returns undefined if the list is not regular: decode it then.
 */
export function indexParts(
  text: string,
  size: number,
  decode: (parts: string) => BodyPart[],
): FindParts | undefined {
  const partSize = Number(/^\[1,\[\[\d+,(\d{1,15}),"/.exec(text)?.[1] ?? 0);
  if (partSize === 0) return undefined;
  // No other field of a part is a number before a text, so a part of this size splits the list once.
  const separator = `,${partSize},"`;
  const pieces = text.split(separator);
  const count = pieces.length - 1;
  const last = pieces[count]!;
  if (last.length > maxTailCharacters) return undefined;
  const begin = (index: number) => pieces[index]!.slice(pieces[index]!.lastIndexOf("["));
  const end = (index: number) => pieces[index + 1]!.slice(0, pieces[index + 1]!.indexOf("]") + 1);
  // After the last regular part: the bracket that closes the list, or a comma and more parts.
  const rest = last.slice(last.indexOf("]") + 1, -1);
  const tail = rest.startsWith(",") ? decode(`[${rest.slice(1)}`) : [];
  const regularBytes = count * partSize;
  // If the sizes add up, parts of another size before the tail are empty and move no offset.
  if (tail.reduce((sum, part) => sum + part.size, regularBytes) !== size) return undefined;

  function decodeRegular(from: number, to: number): BodyPart[] {
    const between = pieces.slice(from + 1, to + 1);
    return decode(`[${[begin(from), ...between, end(to)].join(separator)}]`);
  }

  const [first] = decodeRegular(0, 0);
  return ({ offset, length }) => {
    if (first === undefined || length === 0 || offset + length > size) return undefined;
    const from = Math.floor(offset / partSize);
    const to = Math.floor((offset + length - 1) / partSize);
    const regular = from < count ? decodeRegular(from, Math.min(to, count - 1)) : [];
    const segments = to < count ? regular : [...regular, ...tail];
    // The same object as in `segments`, by which a reader knows that it starts with the first part.
    return { segments, offset: Math.min(from, count) * partSize, first: from === 0 ? segments[0]! : first };
  };
}
