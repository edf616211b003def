// Hashes a body while it is received: MD5 always, plus the algorithms that the sender specifies.
// Large bodies are hashed in another thread, because MD5 is slower than the disk.
import {
  type ChecksumAlgorithm,
  type ExpectedChecksum,
  hex,
  verifyChecksum,
} from "../../model/checksums/checksum.ts";
import { hashBytes, startHash } from "../../model/checksums/hashes.ts";
import { StoreError } from "../../model/errors.ts";
import { limits } from "../../model/limits.ts";
import type { Checksums } from "../../model/object.ts";
import type { HashThreads } from "./hash-pool.ts";

export interface DigestResult {
  readonly size: number;
  readonly etag: string;
  readonly checksums: Checksums;
}

export interface Digests {
  /** The caller may reuse the bytes when the result is undefined or its promise resolves. */
  update(bytes: Uint8Array): Promise<void> | undefined;
  /** Rejects if a checksum differs from the sender's checksum. */
  finish(): Promise<DigestResult>;
  /** Stops hashing a body that was not received completely. */
  abandon(): void;
}

interface HashRun {
  update(bytes: Uint8Array): Promise<void> | undefined;
  finish(): Promise<readonly Uint8Array[]>;
  abandon(): void;
}

/** Hashes in one of `threads`. Default: in this thread. */
export function startDigests(expected: readonly ExpectedChecksum[], threads?: HashThreads): Digests {
  const algorithms = neededAlgorithms(expected);
  const run = threads?.start(algorithms) ?? hashInThread(algorithms);
  let size = 0;
  return {
    update(bytes) {
      size += bytes.length;
      if (size > limits.singleWriteBytes) throw new StoreError("EntityTooLarge");
      return run.update(bytes);
    },
    async finish() {
      const values = await run.finish();
      return toDigestResult(size, values, expected);
    },
    abandon: () => run.abandon(),
  };
}

/** Hashes a small body in one call. Throws if a checksum differs from the expected checksum. */
export function computeDigests(bytes: Uint8Array, expected: readonly ExpectedChecksum[]): DigestResult {
  const values = neededAlgorithms(expected).map((algorithm) => hashBytes(algorithm, bytes));
  return toDigestResult(bytes.length, values, expected);
}

function neededAlgorithms(expected: readonly ExpectedChecksum[]): readonly ChecksumAlgorithm[] {
  if (expected.length === 0) return onlyMd5;
  return [...new Set<ChecksumAlgorithm>(["md5", ...expected.map(({ algorithm }) => algorithm)])];
}

const onlyMd5: readonly ChecksumAlgorithm[] = ["md5"];

function toDigestResult(
  size: number,
  values: readonly Uint8Array[],
  expected: readonly ExpectedChecksum[],
): DigestResult {
  const checksums: { -readonly [name in keyof Checksums]: Checksums[name] } = {};
  for (const [i, algorithm] of neededAlgorithms(expected).entries()) checksums[algorithm] = values[i]!;
  for (const checksum of expected) verifyChecksum(checksum, checksums[checksum.algorithm]!);
  return { size, etag: hex(values[0]!), checksums };
}

function hashInThread(algorithms: readonly ChecksumAlgorithm[]): HashRun {
  const hashes = algorithms.map(startHash);
  return {
    update(bytes) {
      for (const hash of hashes) hash.update(bytes);
      return undefined;
    },
    async finish() {
      return hashes.map((hash) => hash.digest());
    },
    abandon() {},
  };
}
