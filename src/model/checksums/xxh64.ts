// XXH64 with seed 0. Four sums of 64 bits take 32 bytes per step.
import { Buffer } from "node:buffer";
import { avalanche64, fromHalves, halves, prime64, productHigh, rotateLeft, word } from "./xxh-words.ts";

const [oneLow, oneHigh] = halves(prime64.one);
const [twoLow, twoHigh] = halves(prime64.two);
const stripeBytes = 32;

export function xxh64(): { update(bytes: Uint8Array): void; digest(): Uint8Array } {
  const sums = startSums();
  const pending = Buffer.alloc(stripeBytes);
  let pendingBytes = 0;
  let total = 0;

  return {
    update(bytes) {
      total += bytes.length;
      let at = 0;
      if (pendingBytes > 0) {
        at = Math.min(stripeBytes - pendingBytes, bytes.length);
        pending.set(bytes.subarray(0, at), pendingBytes);
        pendingBytes += at;
        if (pendingBytes < stripeBytes) return;
        takeStripes(sums, pending);
      }
      const end = bytes.length - ((bytes.length - at) % stripeBytes);
      takeStripes(sums, bytes.subarray(at, end));
      pending.set(bytes.subarray(end));
      pendingBytes = bytes.length - end;
    },
    digest() {
      const start = total < stripeBytes ? prime64.five : mergeSums(sums);
      const value = takeRest(word(start + BigInt(total)), pending.subarray(0, pendingBytes));
      const result = Buffer.alloc(8);
      result.writeBigUInt64BE(avalanche64(value));
      return result;
    },
  };
}

/** Four sums, each as its low half and its high half. */
function startSums(): Int32Array {
  const { one, two } = prime64;
  return Int32Array.from([one + two, two, 0n, -one].flatMap(halves));
}

function takeStripes(sums: Int32Array, bytes: Uint8Array): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let sum = 0; sum < 4; sum++) takeColumn(sums, sum, view);
}

/** Each word of the sum: add the word times prime two, rotate by 31 bits, multiply by prime one. */
function takeColumn(sums: Int32Array, sum: number, view: DataView): void {
  let low = sums[2 * sum]!;
  let high = sums[2 * sum + 1]!;
  for (let at = 8 * sum; at < view.byteLength; at += stripeBytes) {
    const wordLow = view.getInt32(at, true);
    const addedLow = Math.imul(wordLow, twoLow);
    const addedHigh =
      productHigh(wordLow, twoLow) +
      Math.imul(wordLow, twoHigh) +
      Math.imul(view.getInt32(at + 4, true), twoLow);
    low = (low + addedLow) | 0;
    const carry = low >>> 0 < addedLow >>> 0 ? 1 : 0;
    high = (high + addedHigh + carry) | 0;
    const turned = (low << 31) | (high >>> 1);
    high = (high << 31) | (low >>> 1);
    low = Math.imul(turned, oneLow);
    high = (productHigh(turned, oneLow) + Math.imul(turned, oneHigh) + Math.imul(high, oneLow)) | 0;
  }
  sums[2 * sum] = low;
  sums[2 * sum + 1] = high;
}

function mergeSums(stored: Int32Array): bigint {
  const { one, four } = prime64;
  const sums = [0, 2, 4, 6].map((at) => fromHalves(stored[at]!, stored[at + 1]!));
  const rotations = [1n, 7n, 12n, 18n] as const;
  const mixed = sums.reduce((total, sum, i) => total + rotateLeft(sum, rotations[i]!), 0n);
  return sums.reduce((value, sum) => word((value ^ round(sum)) * one + four), word(mixed));
}

function round(value: bigint): bigint {
  return word(rotateLeft(word(value * prime64.two), 31n) * prime64.one);
}

/** The bytes after the last stripe: words of 64 bits, then one of 32 bits, then single bytes. */
function takeRest(start: bigint, rest: Buffer): bigint {
  const { one, two, three, four, five } = prime64;
  let value = start;
  let at = 0;
  for (; at + 8 <= rest.length; at += 8) {
    value = word(rotateLeft(value ^ round(rest.readBigUInt64LE(at)), 27n) * one + four);
  }
  if (at + 4 <= rest.length) {
    value = word(rotateLeft(value ^ word(BigInt(rest.readUInt32LE(at)) * one), 23n) * two + three);
    at += 4;
  }
  for (; at < rest.length; at++) {
    value = word(rotateLeft(value ^ word(BigInt(rest[at]!) * five), 11n) * one);
  }
  return value;
}
