// Search for keys that contain a text. Adapters read keys only, packed into one byte string: a row
// for each key costs several times as much as the comparison.
import type { Buffer } from "node:buffer";
import { StoreError } from "./errors.ts";
import type { Key } from "./key.ts";

export interface KeySearch {
  readonly prefix: string;
  /** Text to find in any part of a key, in lower case. */
  readonly text: string;
  /** Compare only keys after this key. */
  readonly after?: Key | undefined;
  /** Maximum number of keys to compare. */
  readonly limit: number;
  /** The search pauses after this many matches. */
  readonly maxMatches: number;
}

export interface KeyMatches {
  readonly keys: readonly Key[];
  /** Number of keys that were compared. */
  readonly scanned: number;
  /** The last key that was compared. Undefined if no key follows. */
  readonly next: Key | undefined;
}

/** Separates packed keys: UTF-8 never has this byte. */
export const keySeparator = 0xff;
const separatorCharacter = "\xff";
const otherThanAscii = /[\x80-\xfe]/;

/** Compares `count` packed keys, the first of those that the search has to compare. */
export function matchPackedKeys(packed: Buffer, count: number, search: KeySearch): KeyMatches {
  if (count === 0) return { keys: [], scanned: 0, next: undefined };
  const page = packed.toString("latin1");
  const isAscii = !otherThanAscii.test(page);
  // Most pages have no match, and one comparison of the whole page shows that.
  if (isAscii && !page.toLowerCase().includes(search.text)) {
    const last = page.slice(page.lastIndexOf(separatorCharacter) + 1);
    return { keys: [], scanned: count, next: count < search.limit ? undefined : last };
  }
  const keys = isAscii ? page.split(separatorCharacter) : unpack(packed);
  if (keys.length !== count)
    throw new StoreError("Damaged", { detail: "The stored data is damaged: a key is not UTF-8." });
  return matchKeys(keys, search);
}

/** Compares keys in key order, the first of those that the search has to compare. */
export function matchKeys(candidates: Iterable<Key>, { text, limit, maxMatches }: KeySearch): KeyMatches {
  const keys: Key[] = [];
  let scanned = 0;
  let next: Key | undefined;
  for (const key of candidates) {
    if (scanned === limit || keys.length === maxMatches) return { keys, scanned, next };
    scanned++;
    next = key;
    if (key.toLowerCase().includes(text)) keys.push(key);
  }
  return { keys, scanned, next: scanned < limit ? undefined : next };
}

function unpack(packed: Buffer): Key[] {
  const keys: Key[] = [];
  for (let start = 0; start <= packed.length; ) {
    const found = packed.indexOf(keySeparator, start);
    const end = found === -1 ? packed.length : found;
    keys.push(packed.toString("utf8", start, end));
    start = end + 1;
  }
  return keys;
}
