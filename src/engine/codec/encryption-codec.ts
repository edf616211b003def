// Encodes the encryption fields of a record. Records of earlier versions have no sealed checksums.
import type { Encryption } from "../../model/object.ts";
import { expectText } from "./validate.ts";

export type EncodedEncryption = readonly [
  keyMd5: string,
  scope: string,
  sealedKey: string,
  sealedChecksums?: string,
];

export function encodeEncryption(encryption: Encryption): EncodedEncryption {
  const { keyMd5, scope, sealedKey, sealedChecksums } = encryption;
  const key = [keyMd5, scope, base64(sealedKey)] as const;
  return sealedChecksums === undefined ? key : [...key, base64(sealedChecksums)];
}

export function decodeEncryption(encoded: EncodedEncryption): Encryption {
  const [keyMd5, scope, sealedKey, sealedChecksums] = encoded;
  for (const text of encoded) expectText(text);
  const encryption = { keyMd5, scope, sealedKey: Buffer.from(sealedKey, "base64") };
  if (sealedChecksums === undefined) return encryption;
  return { ...encryption, sealedChecksums: Buffer.from(sealedChecksums, "base64") };
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64");
}
