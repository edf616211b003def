// Incremental hashes by name: cryptographic hashes from Node, and CRCs.
import { Buffer } from "node:buffer";
import { createHash, hash } from "node:crypto";
import { crc32, crc32c } from "@node-rs/crc32";
import { type ChecksumAlgorithm, isCyclic } from "./checksum.ts";
import { crc64nvme } from "./crc64.ts";

export interface RunningHash {
  update(bytes: Uint8Array): void;
  digest(): Uint8Array;
}

export function startHash(algorithm: ChecksumAlgorithm): RunningHash {
  if (!isCyclic(algorithm)) return createHash(algorithm);
  if (algorithm === "crc64nvme") {
    const state = crc64nvme();
    return { update: state.update, digest: state.digest };
  }
  const step = algorithm === "crc32" ? crc32 : crc32c;
  let value = 0;
  return {
    update(bytes) {
      value = step(bytes, value);
    },
    digest() {
      const bytes = Buffer.alloc(4);
      bytes.writeUInt32BE(value);
      return bytes;
    },
  };
}

/** Hashes a small value in one call. */
export function hashBytes(algorithm: ChecksumAlgorithm, bytes: Uint8Array): Uint8Array {
  // Node returns a short hash faster as text than as a buffer.
  if (!isCyclic(algorithm)) return Buffer.from(hash(algorithm, bytes, "hex"), "hex");
  const cyclic = startHash(algorithm);
  cyclic.update(bytes);
  return cyclic.digest();
}
