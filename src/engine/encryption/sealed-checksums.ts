// Etag and checksums of bytes that are encrypted with a customer's key. A hash of the plain bytes
// would help to guess the content, so the etag is random and checksums are sealed.
import { Buffer } from "node:buffer";
import { createCipheriv, createDecipheriv, hkdfSync } from "node:crypto";
import { allAlgorithms, type ChecksumAlgorithm, hex } from "../../model/checksums/checksum.ts";
import { StoreError } from "../../model/errors.ts";
import type { Checksums, ObjectRecord } from "../../model/object.ts";
import type { Context } from "../context.ts";
import type { DataKey } from "./sealed-blocks.ts";

const nonceBytes = 12;
const tagBytes = 16;

/** Returns an etag in the form of an MD5, so that etags of parts can be combined as usual. */
export function randomEtag(context: Pick<Context, "randomBytes">): string {
  return hex(context.randomBytes(16));
}

export function sealChecksums(
  context: Pick<Context, "randomBytes">,
  dataKey: DataKey,
  checksums: Checksums,
): Uint8Array {
  const values = allAlgorithms.flatMap((name) => {
    const value = checksums[name];
    return value === undefined ? [] : [[name, hex(value)]];
  });
  const nonce = context.randomBytes(nonceBytes);
  const cipher = createCipheriv("aes-256-gcm", checksumKey(dataKey), nonce);
  const text = JSON.stringify(Object.fromEntries(values));
  return Buffer.concat([nonce, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
}

/** Returns the record with its checksums decrypted, for a caller who has the key. */
export function withOpenedChecksums(record: ObjectRecord, dataKey: DataKey | undefined): ObjectRecord {
  const sealed = record.encryption?.sealedChecksums;
  if (sealed === undefined || dataKey === undefined) return record;
  return { ...record, checksums: openChecksums(dataKey, sealed) };
}

function openChecksums(dataKey: DataKey, sealed: Uint8Array): Checksums {
  try {
    const decipher = createDecipheriv("aes-256-gcm", checksumKey(dataKey), sealed.subarray(0, nonceBytes));
    decipher.setAuthTag(sealed.subarray(-tagBytes));
    const text = Buffer.concat([decipher.update(sealed.subarray(nonceBytes, -tagBytes)), decipher.final()]);
    const values = JSON.parse(text.toString("utf8")) as Partial<Record<ChecksumAlgorithm, string>>;
    return Object.fromEntries(
      Object.entries(values).map(([name, value]) => [name, Buffer.from(value, "hex")]),
    );
  } catch (cause) {
    throw new StoreError("Damaged", {
      detail: "The stored record is damaged: its sealed checksums cannot be decrypted.",
      cause,
    });
  }
}

function checksumKey(dataKey: DataKey): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", dataKey.bytes, new Uint8Array(), "store sse-c checksums", 32));
}
