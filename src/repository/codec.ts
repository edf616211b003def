// The form in which an object leaves the machine. With a key it is encrypted in blocks, otherwise a
// digest follows the bytes. Both are bound to the object's name, so that swapped objects are found.
import { createHash, hkdfSync, randomBytes } from "node:crypto";
import {
  type DataKey,
  encryptInto,
  saltBytes,
  sealedSize,
  tagBytes,
} from "../engine/encryption/sealed-blocks.ts";
import { decryptWhole } from "../engine/encryption/sealed-reader.ts";
import { StoreError } from "../model/errors.ts";
import { limits } from "../model/limits.ts";

export interface Codec {
  readonly isEncrypted: boolean;
  seal(name: string, bytes: Uint8Array): Uint8Array;
  /** Throws a StoreError if the object is damaged, truncated, or another object. */
  open(name: string, stored: Uint8Array): Uint8Array;
  storedSize(size: number): number;
}

const { blockBytes } = limits;
const digestBytes = 32;

export function createPlainCodec(): Codec {
  const digest = (name: string, bytes: Uint8Array) =>
    createHash("sha256").update(`store backup object 1\0${name}\0`).update(bytes).digest();
  return {
    isEncrypted: false,
    seal: (name, bytes) => Buffer.concat([bytes, digest(name, bytes)]),
    open(name, stored) {
      const bytes = stored.subarray(0, Math.max(0, stored.length - digestBytes));
      const isWhole =
        stored.length >= digestBytes && digest(name, bytes).equals(stored.subarray(-digestBytes));
      if (!isWhole) throw damagedObject(name, undefined);
      return bytes;
    },
    storedSize: (size) => size + digestBytes,
  };
}

export function createSealingCodec(key: Uint8Array): Codec {
  // A key for each name: an object under another name cannot be decrypted.
  const objectKey = (name: string): DataKey => ({
    bytes: new Uint8Array(hkdfSync("sha256", key, "", `store backup object 1 ${name}`, 32)),
    use: "derive",
  });
  return {
    isEncrypted: true,
    seal(name, bytes) {
      const target = Buffer.allocUnsafeSlow(sealedSize(bytes.length, blockBytes));
      encryptInto(target, { randomBytes, blockBytes }, objectKey(name), 0, bytes);
      return target;
    },
    open(name, stored) {
      const size = plainSize(stored.length);
      if (size === undefined) throw damagedObject(name, undefined);
      try {
        return decryptWhole({ blockBytes }, objectKey(name), size, stored);
      } catch (cause) {
        throw damagedObject(name, cause);
      }
    },
    storedSize: (size) => sealedSize(size, blockBytes),
  };
}

/** The inverse of `sealedSize`. */
function plainSize(stored: number): number | undefined {
  const blocks = Math.max(1, Math.ceil((stored - saltBytes) / (blockBytes + tagBytes)));
  const size = stored - saltBytes - blocks * tagBytes;
  return size >= 0 && sealedSize(size, blockBytes) === stored ? size : undefined;
}

export function damagedObject(name: string, cause: unknown): StoreError {
  return new StoreError("Damaged", {
    detail: `The object "${name}" of the backup is damaged or is not the object that was written.`,
    cause,
  });
}
