// XXH3 with seed 0, of 64 or 128 bits. Eight sums of 64 bits take a stripe of 64 bytes per step,
// and are scrambled after each block of 16 stripes.
import { Buffer } from "node:buffer";
import {
  avalanche3,
  foldedProduct,
  fromHalves,
  halves,
  prime32,
  prime64,
  productHigh,
  word,
} from "./xxh-words.ts";
import { maxShortBytes, secret, shortXxh64, shortXxh128 } from "./xxh3-short.ts";

const stripeBytes = 64;
const stripesPerBlock = 16;
const pendingBytes = 4 * stripeBytes;

const secretHalves = Array.from({ length: secret.length - 3 }, (_, at) => secret.readInt32LE(at));
const primeLow = halves(prime32.one)[0];

export function xxh3(bits: 64 | 128): { update(bytes: Uint8Array): void; digest(): Uint8Array } {
  const stripes = startStripes();
  /** The bytes not taken yet: all of a short body, and at least one byte of a long one. */
  const pending = Buffer.alloc(pendingBytes);
  const lastStripe = Buffer.alloc(stripeBytes);
  let held = 0;
  let total = 0;

  /** Takes the whole stripes of `bytes` but for the last byte, and returns the number of bytes. */
  function take(bytes: Uint8Array): number {
    const count = Math.floor((bytes.length - 1) / stripeBytes);
    if (count === 0) return 0;
    const taken = count * stripeBytes;
    stripes.take(bytes, count);
    lastStripe.set(bytes.subarray(taken - stripeBytes, taken));
    return taken;
  }

  function digestLong(): readonly bigint[] {
    const rest = pending.subarray(take(pending.subarray(0, held)), held);
    stripes.takeLast(Buffer.concat([lastStripe, rest]).subarray(-stripeBytes));
    const low = stripes.merge(11, BigInt(total) * prime64.one);
    return bits === 64 ? [low] : [stripes.merge(117, ~(BigInt(total) * prime64.two)), low];
  }

  return {
    update(bytes) {
      total += bytes.length;
      let at = 0;
      if (held > 0 || bytes.length <= pendingBytes) {
        at = Math.min(pendingBytes - held, bytes.length);
        pending.set(bytes.subarray(0, at), held);
        held += at;
        if (at === bytes.length) return;
        stripes.take(pending, pendingBytes / stripeBytes);
        lastStripe.set(pending.subarray(-stripeBytes));
      }
      at += take(bytes.subarray(at));
      pending.set(bytes.subarray(at));
      held = bytes.length - at;
    },
    digest() {
      const short = bits === 64 ? shortXxh64 : shortXxh128;
      const words = total > maxShortBytes ? digestLong() : short(pending.subarray(0, held));
      const result = Buffer.alloc(bits / 8);
      for (const [i, value] of words.entries()) result.writeBigUInt64BE(word(value), 8 * i);
      return result;
    },
  };
}

interface Stripes {
  /** Takes the first `count` stripes. */
  take(bytes: Uint8Array, count: number): void;
  takeLast(bytes: Uint8Array): void;
  merge(secretAt: number, start: bigint): bigint;
}

function startStripes(): Stripes {
  const { one, two, three, four, five } = prime64;
  const start = [prime32.three, one, two, three, four, prime32.two, five, prime32.one];
  /** The low half of each sum, then its high half. */
  const sums = Int32Array.from(start.flatMap(halves));
  let inBlock = 0;

  return {
    take(bytes, count) {
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      for (let done = 0; done < count; ) {
        const next = Math.min(count - done, stripesPerBlock - inBlock);
        accumulate(sums, view, { at: done * stripeBytes, count: next, secretAt: 8 * inBlock });
        done += next;
        inBlock += next;
        if (inBlock < stripesPerBlock) continue;
        scramble(sums);
        inBlock = 0;
      }
    },
    takeLast(bytes) {
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      accumulate(sums, view, { at: 0, count: 1, secretAt: secret.length - stripeBytes - 7 });
    },
    merge(secretAt, from) {
      const words = Array.from({ length: 8 }, (_, i) => {
        const sum = fromHalves(sums[2 * i]!, sums[2 * i + 1]!);
        return sum ^ secret.readBigUInt64LE(secretAt + 8 * i);
      });
      const mixed = [0, 2, 4, 6].map((i) => foldedProduct(words[i]!, words[i + 1]!));
      return avalanche3(word(mixed.reduce((total, value) => total + value, from)));
    },
  };
}

interface Run {
  readonly at: number;
  readonly count: number;
  /** Moves on by 8 with each stripe. */
  readonly secretAt: number;
}

/** Two sums at a time, because each takes the product of its own word and the other's word. */
function accumulate(sums: Int32Array, view: DataView, { at, count, secretAt }: Run): void {
  for (let sum = 0; sum < 16; sum += 4) {
    let aLow = sums[sum]!;
    let aHigh = sums[sum + 1]!;
    let bLow = sums[sum + 2]!;
    let bHigh = sums[sum + 3]!;
    let from = at + 4 * sum;
    for (let key = secretAt + 4 * sum, i = 0; i < count; i++, key += 8, from += stripeBytes) {
      const wordALow = view.getInt32(from, true);
      const wordAHigh = view.getInt32(from + 4, true);
      const wordBLow = view.getInt32(from + 8, true);
      const wordBHigh = view.getInt32(from + 12, true);
      const keyALow = wordALow ^ secretHalves[key]!;
      const keyAHigh = wordAHigh ^ secretHalves[key + 4]!;
      const keyBLow = wordBLow ^ secretHalves[key + 8]!;
      const keyBHigh = wordBHigh ^ secretHalves[key + 12]!;
      const productA = Math.imul(keyALow, keyAHigh);
      const productB = Math.imul(keyBLow, keyBHigh);
      aLow = (aLow + wordBLow) | 0;
      aHigh = (aHigh + wordBHigh + (aLow >>> 0 < wordBLow >>> 0 ? 1 : 0)) | 0;
      bLow = (bLow + wordALow) | 0;
      bHigh = (bHigh + wordAHigh + (bLow >>> 0 < wordALow >>> 0 ? 1 : 0)) | 0;
      aLow = (aLow + productA) | 0;
      aHigh = (aHigh + productHigh(keyALow, keyAHigh) + (aLow >>> 0 < productA >>> 0 ? 1 : 0)) | 0;
      bLow = (bLow + productB) | 0;
      bHigh = (bHigh + productHigh(keyBLow, keyBHigh) + (bLow >>> 0 < productB >>> 0 ? 1 : 0)) | 0;
    }
    sums[sum] = aLow;
    sums[sum + 1] = aHigh;
    sums[sum + 2] = bLow;
    sums[sum + 3] = bHigh;
  }
}

/** Each sum: fold it, mix in the last 64 bytes of the secret, and multiply. */
function scramble(sums: Int32Array): void {
  const secretAt = secret.length - stripeBytes;
  for (let sum = 0; sum < 16; sum += 2) {
    const high = sums[sum + 1]! ^ secretHalves[secretAt + 4 * sum + 4]!;
    const low = sums[sum]! ^ (sums[sum + 1]! >>> 15) ^ secretHalves[secretAt + 4 * sum]!;
    sums[sum] = Math.imul(low, primeLow);
    sums[sum + 1] = productHigh(low, primeLow) + Math.imul(high, primeLow);
  }
}
