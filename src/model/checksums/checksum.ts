// Checksums of objects, and the error for a mismatch. Scripts use five algorithms; S3 clients also
// use CRCs and the xxHash family.
import { Buffer } from "node:buffer";
import { timingSafeEqual } from "node:crypto";
import { StoreError } from "../errors.ts";

/** Algorithms that a script can use. */
export const checksumAlgorithms = ["md5", "sha1", "sha256", "sha384", "sha512"] as const;
/** Algorithms that can compute the checksum of an object from the checksums of its parts. */
export const cyclicAlgorithms = ["crc32", "crc32c", "crc64nvme"] as const;
/** Fast algorithms that detect damage, not attacks. */
export const xxhAlgorithms = ["xxhash64", "xxhash3", "xxhash128"] as const;
export const allAlgorithms = [...checksumAlgorithms, ...cyclicAlgorithms, ...xxhAlgorithms] as const;

export type CyclicAlgorithm = (typeof cyclicAlgorithms)[number];
export type XxhAlgorithm = (typeof xxhAlgorithms)[number];
export type ChecksumAlgorithm = (typeof allAlgorithms)[number];

export const checksumNames: Readonly<Record<ChecksumAlgorithm, string>> = {
  md5: "MD5",
  sha1: "SHA-1",
  sha256: "SHA-256",
  sha384: "SHA-384",
  sha512: "SHA-512",
  crc32: "CRC32",
  crc32c: "CRC32C",
  crc64nvme: "CRC64NVME",
  xxhash64: "XXHASH64",
  xxhash3: "XXHASH3",
  xxhash128: "XXHASH128",
};

export const checksumLengths: Readonly<Record<ChecksumAlgorithm, number>> = {
  md5: 16,
  sha1: 20,
  sha256: 32,
  sha384: 48,
  sha512: 64,
  crc32: 4,
  crc32c: 4,
  crc64nvme: 8,
  xxhash64: 8,
  xxhash3: 8,
  xxhash128: 16,
};

/** A checksum to compute, and its declared value: known now, known after the body, or undefined. */
export interface ExpectedChecksum {
  readonly algorithm: ChecksumAlgorithm;
  readonly value?: Uint8Array | (() => Uint8Array) | undefined;
}

/** The checksum of a multipart object: computed from the parts' checksums or from all bytes. */
export interface UploadChecksum {
  readonly algorithm: ChecksumAlgorithm;
  readonly of: "parts" | "bytes";
}

export function isCyclic(algorithm: ChecksumAlgorithm): algorithm is CyclicAlgorithm {
  return cyclicAlgorithms.some((cyclic) => cyclic === algorithm);
}

export function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex");
}

export function verifyChecksum({ algorithm, value }: ExpectedChecksum, actual: Uint8Array): void {
  const expected = typeof value === "function" ? value() : value;
  if (expected === undefined) return;
  if (expected.length === actual.length && timingSafeEqual(expected, actual)) return;
  const name = checksumNames[algorithm];
  throw new StoreError("BadDigest", {
    detail:
      `The ${name} checksum you specified did not match what we received.\n` +
      `You provided a ${name} checksum with value: ${hex(expected)}\n` +
      `Actual ${name} was: ${hex(actual)}`,
  });
}
