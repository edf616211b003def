// Seals small texts with the store's secret key: AES-256-GCM, bound to a subject, so that a sealed
// text cannot be opened for another subject.
import { Buffer } from "node:buffer";
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

export const secretKeyBytes = 32;

/** Accepts 64 hex digits, or base64 of 32 bytes in either alphabet, with or without padding. */
export function parseSecretKey(text: string): Uint8Array | undefined {
  const written = text.trim();
  if (/^[0-9a-f]{64}$/i.test(written)) return Buffer.from(written, "hex");
  if (!/^[A-Za-z0-9+/_-]{43}=?$/.test(written)) return undefined;
  return Buffer.from(written, "base64");
}

const form = "v1.";
const nonceBytes = 12;
const tagBytes = 16;

export function seal(key: Uint8Array, subject: readonly string[], text: string): string {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv("aes-256-gcm", key, nonce);
  cipher.setAAD(encodeSubject(subject));
  const sealed = Buffer.concat([nonce, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
  return form + sealed.toString("base64");
}

/** Returns undefined for a wrong key, a wrong subject or damage, which cannot be distinguished. */
export function unseal(key: Uint8Array, subject: readonly string[], sealed: string): string | undefined {
  const bytes = Buffer.from(sealed.slice(form.length), "base64");
  if (!sealed.startsWith(form) || bytes.length < nonceBytes + tagBytes) return undefined;
  const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, nonceBytes), {
    authTagLength: tagBytes,
  });
  decipher.setAAD(encodeSubject(subject));
  decipher.setAuthTag(bytes.subarray(-tagBytes));
  const text = decipher.update(bytes.subarray(nonceBytes, -tagBytes));
  try {
    return Buffer.concat([text, decipher.final()]).toString("utf8");
  } catch {
    return undefined;
  }
}

function encodeSubject(subject: readonly string[]): Uint8Array {
  return Buffer.from(JSON.stringify(["store seal", ...subject]));
}
