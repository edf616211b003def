// Arithmetic on 64-bit words for the xxHash family. BigInt is for short bodies and for the end of a
// body; the bytes between use 32-bit halves, which are several times faster.

export const prime32 = { one: 0x9e3779b1n, two: 0x85ebca77n, three: 0xc2b2ae3dn } as const;
export const prime64 = {
  one: 0x9e3779b185ebca87n,
  two: 0xc2b2ae3d27d4eb4fn,
  three: 0x165667b19e3779f9n,
  four: 0x85ebca77c2b2ae63n,
  five: 0x27d4eb2f165667c5n,
} as const;

/** Removes the bits beyond 64. */
export function word(value: bigint): bigint {
  return BigInt.asUintN(64, value);
}

export function rotateLeft(value: bigint, bits: bigint): bigint {
  return word(value << bits) | (value >> (64n - bits));
}

export function xorShift(value: bigint, bits: bigint): bigint {
  return value ^ (value >> bits);
}

/** The last step of XXH64: each bit of the value changes about half of the bits of the result. */
export function avalanche64(value: bigint): bigint {
  const first = word(xorShift(value, 33n) * prime64.two);
  return xorShift(word(xorShift(first, 29n) * prime64.three), 32n);
}

/** The last step of XXH3 for most lengths. */
export function avalanche3(value: bigint): bigint {
  return xorShift(word(xorShift(value, 37n) * 0x165667919e3779f9n), 32n);
}

/** Multiplies two words, and returns both words of the product combined by XOR. */
export function foldedProduct(a: bigint, b: bigint): bigint {
  const product = a * b;
  return word(product) ^ (product >> 64n);
}

/** Returns the low half and the high half. */
export function halves(value: bigint): [number, number] {
  return [Number(BigInt.asIntN(32, value)), Number(BigInt.asIntN(32, value >> 32n))];
}

export function fromHalves(low: number, high: number): bigint {
  return (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0);
}

/** Returns the high half of the product of two unsigned 32-bit numbers. `Math.imul` is the low. */
export function productHigh(a: number, b: number): number {
  const aLow = a & 0xffff;
  const aHigh = a >>> 16;
  const bLow = b & 0xffff;
  const bHigh = b >>> 16;
  const middle = (Math.imul(aHigh, bLow) + (Math.imul(aLow, bLow) >>> 16)) | 0;
  const carry = (Math.imul(aLow, bHigh) + (middle & 0xffff)) | 0;
  return (Math.imul(aHigh, bHigh) + (middle >>> 16) + (carry >>> 16)) | 0;
}
