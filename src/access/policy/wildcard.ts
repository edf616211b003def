// Matches texts with patterns in which `*` stands for any characters and `?` for one. A pattern is
// split at its stars once. A match then searches each piece after the previous one and never goes
// back, so its time grows with the length of the text.
import type { Work } from "./work.ts";

/** Whether a text matches the pattern. */
export type Wildcard = (text: string, work: Work) => boolean;

/** Cost of a match beside the characters that it searches. */
const matchUnits = 8;

/** Whether a text matches one of the patterns. Those without a wildcard are found in a set. */
export function compileWildcards(patterns: readonly string[]): Wildcard {
  const exact = new Set(patterns.filter((pattern) => !hasWildcard(pattern)));
  const wildcards = patterns.filter(hasWildcard).map(compileWildcard);
  return (text, work) => {
    work.spend(matchUnits);
    return exact.has(text) || wildcards.some((matches) => matches(text, work));
  };
}

function compileWildcard(pattern: string): Wildcard {
  const [first = "", ...others] = pattern.split("*");
  const last = others.pop();
  if (last === undefined) return withoutStars(pattern);
  if (others.length === 0 && last === "" && !first.includes("?")) return withPrefix(first);
  const start = toPiece(first);
  const end = toPiece(last);
  const middle = others.filter((one) => one !== "").map(toPiece);
  const shortest = first.length + last.length;
  return (text, work) => {
    work.spend(matchUnits);
    if (text.length < shortest || !start.isAt(text, 0) || !end.isAt(text, text.length - last.length))
      return false;
    let at = first.length;
    const limit = text.length - last.length;
    for (const piece of middle) {
      const found = piece.find(text, at, work);
      at = found + piece.length;
      if (found === -1 || at > limit) return false;
    }
    return true;
  };
}

function withPrefix(prefix: string): Wildcard {
  return (text, work) => {
    work.spend(matchUnits);
    return text.startsWith(prefix);
  };
}

function withoutStars(pattern: string): Wildcard {
  const { isAt } = toPiece(pattern);
  return (text, work) => {
    work.spend(matchUnits);
    return text.length === pattern.length && isAt(text, 0);
  };
}

/** A part of a pattern between two stars. */
interface Piece {
  readonly length: number;
  isAt(text: string, position: number): boolean;
  /** Returns the first position from `from` on, or -1. */
  find(text: string, from: number, work: Work): number;
}

/** Up to this length, `indexOf` is linear in V8 even for repetitive texts. */
const maxIndexedLength = 250;

function toPiece(piece: string): Piece {
  const { length } = piece;
  if (!piece.includes("?") && length <= maxIndexedLength) {
    return {
      length,
      isAt: (text, position) => text.startsWith(piece, position),
      find(text, from, work) {
        const found = text.indexOf(piece, from);
        work.spend((found === -1 ? text.length : found + length) - from);
        return found;
      },
    };
  }
  /** The number of characters of the piece that the text has at this position. */
  const countEqual = (text: string, position: number) => {
    let i = 0;
    while (i < length && (piece[i] === "?" || piece[i] === text[position + i])) i++;
    return i;
  };
  return {
    length,
    isAt: (text, position) => countEqual(text, position) === length,
    find(text, from, work) {
      // Each comparison is counted: a repetitive text uses up the budget, not the processor.
      for (let position = from; position + length <= text.length; position++) {
        const equal = countEqual(text, position);
        work.spend(equal + 1);
        if (equal === length) return position;
      }
      return -1;
    },
  };
}

export function hasWildcard(pattern: string): boolean {
  return /[*?]/.test(pattern);
}
