// XXH3 with seed 0 of at most 240 bytes. Each range of lengths has its own formula.
import { Buffer } from "node:buffer";
import {
  avalanche3,
  avalanche64,
  foldedProduct,
  prime32,
  prime64,
  rotateLeft,
  word,
  xorShift,
} from "./xxh-words.ts";

export const maxShortBytes = 240;

/** The constant that all lengths are mixed with. */
export const secret = Buffer.from(
  "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f" +
    "cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c" +
    "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8" +
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364" +
    "eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e" +
    "2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e",
  "hex",
);

/** Where the last mix of 129 to 240 bytes reads the secret. */
const lastMixAt = 119;
const prime = 0x9fb21c651e98df25n;

/** Returns the only word. */
export function shortXxh64(bytes: Buffer): bigint[] {
  if (bytes.length === 0) return [avalanche64(secretPair(56))];
  if (bytes.length < 4) return [avalanche64(wordOfThree(bytes) ^ secretPair32(0))];
  if (bytes.length <= 8) return [mixUpTo8(bytes)];
  if (bytes.length <= 16) return [mixUpTo16(bytes)];
  return [bytes.length <= 128 ? mixUpTo128(bytes) : mixUpTo240(bytes)];
}

/** Returns the high word, then the low word. */
export function shortXxh128(bytes: Buffer): bigint[] {
  if (bytes.length === 0) return [avalanche64(secretPair(80)), avalanche64(secretPair(64))];
  if (bytes.length < 4) return wideUpTo3(bytes);
  if (bytes.length <= 8) return wideUpTo8(bytes);
  if (bytes.length <= 16) return wideUpTo16(bytes);
  return bytes.length <= 128 ? wideUpTo128(bytes) : wideUpTo240(bytes);
}

function secretPair(at: number): bigint {
  return secret.readBigUInt64LE(at) ^ secret.readBigUInt64LE(at + 8);
}

function secretPair32(at: number): bigint {
  return BigInt((secret.readUInt32LE(at) ^ secret.readUInt32LE(at + 4)) >>> 0);
}

/** One to three bytes and their number, as 32 bits. */
function wordOfThree(bytes: Buffer): bigint {
  const { length } = bytes;
  const value = (bytes[0]! << 16) | (bytes[length >> 1]! << 24) | bytes[length - 1]! | (length << 8);
  return BigInt(value >>> 0);
}

function swapBytes(value: bigint): bigint {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return bytes.readBigUInt64BE();
}

function firstWord(bytes: Buffer, at = 0): bigint {
  return bytes.readBigUInt64LE(at);
}

function lastWord(bytes: Buffer): bigint {
  return bytes.readBigUInt64LE(bytes.length - 8);
}

function lastHalf(bytes: Buffer): bigint {
  return BigInt(bytes.readUInt32LE(bytes.length - 4));
}

function mixUpTo8(bytes: Buffer): bigint {
  const input = lastHalf(bytes) + (BigInt(bytes.readUInt32LE(0)) << 32n);
  const keyed = input ^ secretPair(8);
  const mixed = word((keyed ^ rotateLeft(keyed, 49n) ^ rotateLeft(keyed, 24n)) * prime);
  return xorShift(word((mixed ^ ((mixed >> 35n) + BigInt(bytes.length))) * prime), 28n);
}

function mixUpTo16(bytes: Buffer): bigint {
  const low = firstWord(bytes) ^ secretPair(24);
  const high = lastWord(bytes) ^ secretPair(40);
  return avalanche3(word(BigInt(bytes.length) + swapBytes(low) + high + foldedProduct(low, high)));
}

/** Mixes 16 bytes with 16 bytes of the secret. */
function mix16(bytes: Buffer, at: number, secretAt: number): bigint {
  return foldedProduct(
    firstWord(bytes, at) ^ secret.readBigUInt64LE(secretAt),
    firstWord(bytes, at + 8) ^ secret.readBigUInt64LE(secretAt + 8),
  );
}

function mixUpTo128(bytes: Buffer): bigint {
  const { length } = bytes;
  let sum = BigInt(length) * prime64.one;
  for (let i = (length - 1) >> 5; i >= 0; i--) {
    sum += mix16(bytes, 16 * i, 32 * i) + mix16(bytes, length - 16 * (i + 1), 32 * i + 16);
  }
  return avalanche3(word(sum));
}

function mixUpTo240(bytes: Buffer): bigint {
  const { length } = bytes;
  let sum = BigInt(length) * prime64.one;
  for (let at = 0; at < 128; at += 16) sum += mix16(bytes, at, at);
  sum = avalanche3(word(sum));
  for (let at = 128; at + 16 <= length; at += 16) sum += mix16(bytes, at, at - 125);
  return avalanche3(word(sum + mix16(bytes, length - 16, lastMixAt)));
}

function wideUpTo3(bytes: Buffer): bigint[] {
  const low = wordOfThree(bytes);
  const swapped = swapBytes(low << 32n);
  const high = BigInt.asUintN(32, (swapped << 13n) | (swapped >> 19n));
  return [avalanche64(high ^ secretPair32(8)), avalanche64(low ^ secretPair32(0))];
}

function wideUpTo8(bytes: Buffer): bigint[] {
  const input = BigInt(bytes.readUInt32LE(0)) + (lastHalf(bytes) << 32n);
  const product = (input ^ secretPair(16)) * (prime64.one + (BigInt(bytes.length) << 2n));
  const high = word((product >> 64n) + (product << 1n));
  const low = word(product) ^ (high >> 3n);
  return [avalanche3(high), xorShift(word(xorShift(low, 35n) * prime), 28n)];
}

function wideUpTo16(bytes: Buffer): bigint[] {
  const last = lastWord(bytes);
  const product = (firstWord(bytes) ^ last ^ secretPair(32)) * prime64.one;
  const keyed = last ^ secretPair(48);
  const high = word((product >> 64n) + keyed + BigInt.asUintN(32, keyed) * (prime32.two - 1n));
  const low = word(product + (BigInt(bytes.length - 1) << 54n)) ^ swapBytes(high);
  const final = low * prime64.two;
  return [avalanche3(word((final >> 64n) + high * prime64.two)), avalanche3(word(final))];
}

interface Wide {
  readonly low: bigint;
  readonly high: bigint;
}

/** Mixes 16 bytes of one place and 16 bytes of another with 32 bytes of the secret. */
function mix32(sum: Wide, bytes: Buffer, [first, second]: readonly [number, number], secretAt: number): Wide {
  const crossed = (at: number) => word(firstWord(bytes, at) + firstWord(bytes, at + 8));
  return {
    low: word(sum.low + mix16(bytes, first, secretAt)) ^ crossed(second),
    high: word(sum.high + mix16(bytes, second, secretAt + 16)) ^ crossed(first),
  };
}

function finishWide({ low, high }: Wide, length: number): bigint[] {
  const { one, two, four } = prime64;
  const mixed = word(low * one + high * four + BigInt(length) * two);
  return [word(-avalanche3(mixed)), avalanche3(word(low + high))];
}

function wideUpTo128(bytes: Buffer): bigint[] {
  const { length } = bytes;
  let sum: Wide = { low: word(BigInt(length) * prime64.one), high: 0n };
  for (let i = (length - 1) >> 5; i >= 0; i--) {
    sum = mix32(sum, bytes, [16 * i, length - 16 * (i + 1)], 32 * i);
  }
  return finishWide(sum, length);
}

function wideUpTo240(bytes: Buffer): bigint[] {
  const { length } = bytes;
  let sum: Wide = { low: word(BigInt(length) * prime64.one), high: 0n };
  for (let at = 0; at < 128; at += 32) sum = mix32(sum, bytes, [at, at + 16], at);
  sum = { low: avalanche3(sum.low), high: avalanche3(sum.high) };
  for (let at = 128; at + 32 <= length; at += 32) sum = mix32(sum, bytes, [at, at + 16], at - 125);
  return finishWide(mix32(sum, bytes, [length - 16, length - 32], lastMixAt - 16), length);
}
