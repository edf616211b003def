// Combines the CRCs of consecutive parts into the CRC of the whole. A matrix over GF(2) shifts a
// CRC by n bytes. The matrix for twice as many bytes is its square.
import { Buffer } from "node:buffer";
import type { CyclicAlgorithm } from "./checksum.ts";
import { polynomial64 } from "./crc64.ts";

const polynomials: Readonly<Record<CyclicAlgorithm, bigint>> = {
  crc32: 0xedb88320n,
  crc32c: 0x82f63b78n,
  crc64nvme: polynomial64,
};

/** A matrix of bits. Each number is a column. */
type Matrix = readonly bigint[];

export interface PartChecksum {
  readonly value: Uint8Array;
  readonly size: number;
}

export function combineChecksums(algorithm: CyclicAlgorithm, parts: readonly PartChecksum[]): Uint8Array {
  const width = algorithm === "crc64nvme" ? 64 : 32;
  const movers = new Map<number, Matrix>();
  let combined = 0n;
  for (const { value, size } of parts) {
    // Most parts have the same size, so the matrix of a size is computed once.
    const mover = movers.get(size) ?? matrixFor(algorithm, width, size);
    movers.set(size, mover);
    combined = times(mover, combined) ^ BigInt(`0x${Buffer.from(value).toString("hex")}`);
  }
  return Buffer.from(combined.toString(16).padStart(width / 4, "0"), "hex");
}

function matrixFor(algorithm: CyclicAlgorithm, width: number, bytes: number): Matrix {
  let square = oneByte(algorithm, width);
  let result: Matrix | undefined;
  for (let left = bytes; left > 0; left = Math.floor(left / 2)) {
    if (left % 2 === 1)
      result = result === undefined ? square : square.map((_, i) => times(square, result![i]!));
    square = square.map((column) => times(square, column));
  }
  return result ?? identity(width);
}

function identity(width: number): Matrix {
  return Array.from({ length: width }, (_, bit) => 1n << BigInt(bit));
}

/** Returns the matrix that shifts a CRC by one zero byte. */
function oneByte(algorithm: CyclicAlgorithm, width: number): Matrix {
  return identity(width).map((start) => {
    let value = start;
    for (let bit = 0; bit < 8; bit++) value = (value >> 1n) ^ (value & 1n ? polynomials[algorithm] : 0n);
    return value;
  });
}

function times(matrix: Matrix, vector: bigint): bigint {
  let sum = 0n;
  for (let bit = 0, left = vector; left > 0n; bit++, left >>= 1n) if (left & 1n) sum ^= matrix[bit]!;
  return sum;
}
