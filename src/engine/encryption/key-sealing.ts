// Seals a key of 32 bytes with a master key: nonce, sealed bytes, tag. The associated text says what the
// key is for, so that it cannot be used for anything else.
import { Buffer } from "node:buffer";
import { createCipheriv, createDecipheriv } from "node:crypto";
import { StoreError } from "../../model/errors.ts";
import type { Context } from "../context.ts";
import type { MasterKey } from "../master-keys.ts";

const nonceBytes = 12;
const tagBytes = 16;
export const keyBytes = 32;
export const sealedKeyBytes = nonceBytes + keyBytes + tagBytes;

export function sealKey(
  context: Pick<Context, "randomBytes">,
  master: MasterKey,
  key: Uint8Array,
  purpose: string,
): Buffer {
  const nonce = context.randomBytes(nonceBytes);
  const cipher = createCipheriv("aes-256-gcm", master.bytes, nonce);
  cipher.setAAD(Buffer.from(purpose));
  return Buffer.concat([nonce, cipher.update(key), cipher.final(), cipher.getAuthTag()]);
}

export function openKey(master: MasterKey, sealed: Uint8Array, purpose: string): Buffer {
  try {
    if (sealed.length !== sealedKeyBytes) throw new Error(`a sealed key has ${sealedKeyBytes} bytes`);
    const nonce = sealed.subarray(0, nonceBytes);
    const decipher = createDecipheriv("aes-256-gcm", master.bytes, nonce, { authTagLength: tagBytes });
    decipher.setAAD(Buffer.from(purpose));
    decipher.setAuthTag(sealed.subarray(-tagBytes));
    const key = decipher.update(sealed.subarray(nonceBytes, -tagBytes));
    decipher.final();
    return key;
  } catch (cause) {
    throw new StoreError("Damaged", {
      detail: "The stored record is damaged: its sealed key cannot be opened.",
      cause,
    });
  }
}
