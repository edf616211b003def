// Incremental hashes by name: cryptographic hashes from Node, CRCs and the xxHash family.
import { Buffer } from "node:buffer";
import { createHash, hash } from "node:crypto";
import { crc32, crc32c } from "@node-rs/crc32";
import {
  type ChecksumAlgorithm,
  type CyclicAlgorithm,
  isCyclic,
  type XxhAlgorithm,
  xxhAlgorithms,
} from "./checksum.ts";
import { crc64nvme } from "./crc64.ts";
import { xxh3 } from "./xxh3.ts";
import { xxh64 } from "./xxh64.ts";

export interface RunningHash {
  update(bytes: Uint8Array): void;
  digest(): Uint8Array;
}

export function startHash(algorithm: ChecksumAlgorithm): RunningHash {
  if (isCyclic(algorithm)) return startCyclic(algorithm);
  return isXxh(algorithm) ? startXxh[algorithm]() : createHash(algorithm);
}

const startXxh: Readonly<Record<XxhAlgorithm, () => RunningHash>> = {
  xxhash64: xxh64,
  xxhash3: () => xxh3(64),
  xxhash128: () => xxh3(128),
};

function isXxh(algorithm: ChecksumAlgorithm): algorithm is XxhAlgorithm {
  return xxhAlgorithms.some((xxh) => xxh === algorithm);
}

function startCyclic(algorithm: CyclicAlgorithm): RunningHash {
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
  if (isCyclic(algorithm) || isXxh(algorithm)) {
    const running = startHash(algorithm);
    running.update(bytes);
    return running.digest();
  }
  // Node returns a short hash faster as text than as a buffer.
  return Buffer.from(hash(algorithm, bytes, "hex"), "hex");
}
