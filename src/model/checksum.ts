// The five checksums an object may carry, and what a mismatch says.
import { timingSafeEqual } from "node:crypto";
import { StoreError } from "./errors.ts";

export const checksumAlgorithms = ["md5", "sha1", "sha256", "sha384", "sha512"] as const;
export type ChecksumAlgorithm = (typeof checksumAlgorithms)[number];

export const checksumNames: Readonly<Record<ChecksumAlgorithm, string>> = {
  md5: "MD5",
  sha1: "SHA-1",
  sha256: "SHA-256",
  sha384: "SHA-384",
  sha512: "SHA-512",
};

export const checksumLengths: Readonly<Record<ChecksumAlgorithm, number>> = {
  md5: 16,
  sha1: 20,
  sha256: 32,
  sha384: 48,
  sha512: 64,
};

/** What the sender says the bytes hash to. */
export interface ExpectedChecksum {
  readonly algorithm: ChecksumAlgorithm;
  readonly value: Uint8Array;
}

export function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex");
}

export function verifyChecksum(expected: ExpectedChecksum, actual: Uint8Array): void {
  if (timingSafeEqual(expected.value, actual)) return;
  const name = checksumNames[expected.algorithm];
  throw new StoreError("BadDigest", {
    detail:
      `The ${name} checksum you specified did not match what we received.\n` +
      `You provided a ${name} checksum with value: ${hex(expected.value)}\n` +
      `Actual ${name} was: ${hex(actual)}`,
  });
}
