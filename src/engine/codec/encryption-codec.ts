// Encodes the encryption fields of a record. Records of earlier versions have no sealed checksums.
import { Buffer } from "node:buffer";
import type { CustomerEncryption, Encryption, StoreEncryption } from "../../model/object.ts";
import { expectText } from "./validate.ts";

type EncodedCustomer = readonly [keyMd5: string, scope: string, sealedKey: string, sealedChecksums?: string];

/** The first field cannot be the MD5 of a customer's key, which has 32 digits. */
type EncodedStore = readonly [kind: "store", scope: string, sealedKey: string, masterKey: string];

export type EncodedEncryption = EncodedCustomer | EncodedStore;

export function encodeEncryption(encryption: Encryption): EncodedEncryption {
  const sealedKey = base64(encryption.sealedKey);
  if (encryption.masterKey !== undefined) {
    return ["store", encryption.scope, sealedKey, encryption.masterKey];
  }
  const { keyMd5, scope, sealedChecksums } = encryption;
  const key = [keyMd5, scope, sealedKey] as const;
  return sealedChecksums === undefined ? key : [...key, base64(sealedChecksums)];
}

export function decodeEncryption(encoded: EncodedEncryption): Encryption {
  for (const text of encoded) expectText(text);
  return isStore(encoded) ? decodeStore(encoded) : decodeCustomer(encoded);
}

function isStore(encoded: EncodedEncryption): encoded is EncodedStore {
  return encoded[0] === "store";
}

function decodeStore([, scope, sealedKey, masterKey]: EncodedStore): StoreEncryption {
  expectText(masterKey);
  return { masterKey, scope, sealedKey: Buffer.from(sealedKey, "base64") };
}

function decodeCustomer([keyMd5, scope, sealedKey, sealedChecksums]: EncodedCustomer): CustomerEncryption {
  const encryption = { keyMd5, scope, sealedKey: Buffer.from(sealedKey, "base64") };
  if (sealedChecksums === undefined) return encryption;
  return { ...encryption, sealedChecksums: Buffer.from(sealedChecksums, "base64") };
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64");
}
