// A key is compared and ordered by its UTF-8 bytes, never normalized and never a path. A lone
// surrogate has no UTF-8 encoding and is refused, so strings and byte strings map one to one.
import { Buffer } from "node:buffer";
import { TextEncoder } from "node:util";
import { StoreError } from "./errors.ts";
import { limits } from "./limits.ts";

export type Key = string;

const encoder = new TextEncoder();

export function checkKey(key: Key): void {
  // A UTF-16 code unit takes at most three bytes, so short keys need not be encoded.
  const mayBeTooLong = key.length * 3 > limits.keyBytes;
  if ((mayBeTooLong && Buffer.byteLength(key) > limits.keyBytes) || !key.isWellFormed()) {
    throw new StoreError("InvalidObjectName");
  }
}

export function keyBytes(key: Key): Uint8Array {
  return encoder.encode(key);
}

/** Orders keys by UTF-8 bytes. The order of `<` differs for characters above U+FFFF. */
export function compareKeys(a: Key, b: Key): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return codePointRank(x) - codePointRank(y);
  }
  return a.length - b.length;
}

/** Ranks a UTF-16 unit. Surrogates rank last: they encode the highest code points. */
function codePointRank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
