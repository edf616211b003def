// Data keys of objects that are encrypted with a customer's key (SSE-C). The customer's key is never
// stored: it seals a random data key, which seals the bytes.
import { Buffer } from "node:buffer";
import { createCipheriv, createDecipheriv, createHash, hkdfSync, timingSafeEqual } from "node:crypto";
import { StoreError } from "../../model/errors.ts";
import type { CustomerEncryption, Encryption } from "../../model/object.ts";
import type { Context } from "../context.ts";
import type { DataKey } from "./sealed-blocks.ts";

const saltBytes = 16;
const nonceBytes = 12;
const tagBytes = 16;

/** The names to which a data key is bound. `scope` is an object version or an upload id. */
export interface KeySubject {
  readonly bucket: string;
  readonly key: string;
  readonly scope: string;
}

export interface SealedDataKey {
  readonly encryption: CustomerEncryption;
  readonly dataKey: DataKey;
}

export function sealNewKey(context: Context, customerKey: Uint8Array, subject: KeySubject): SealedDataKey {
  const dataKey = context.randomBytes(32);
  const salt = context.randomBytes(saltBytes);
  const nonce = context.randomBytes(nonceBytes);
  const cipher = createCipheriv("aes-256-gcm", deriveWrappingKey(customerKey, salt, subject), nonce);
  const sealedKey = Buffer.concat([salt, nonce, cipher.update(dataKey), cipher.final(), cipher.getAuthTag()]);
  const encryption = { keyMd5: keyMd5(customerKey), scope: subject.scope, sealedKey };
  return { encryption, dataKey: { bytes: dataKey, use: "derive" } };
}

/** Opens a sealed data key. Throws AccessDenied if the customer's key is wrong. */
export function openKey(
  customerKey: Uint8Array,
  encryption: CustomerEncryption,
  subject: Omit<KeySubject, "scope">,
): DataKey {
  const sealed = encryption.sealedKey;
  const salt = sealed.subarray(0, saltBytes);
  const nonce = sealed.subarray(saltBytes, saltBytes + nonceBytes);
  const wrapping = deriveWrappingKey(customerKey, salt, { ...subject, scope: encryption.scope });
  try {
    const decipher = createDecipheriv("aes-256-gcm", wrapping, nonce);
    decipher.setAuthTag(sealed.subarray(-tagBytes));
    const bytes = decipher.update(sealed.subarray(saltBytes + nonceBytes, -tagBytes));
    decipher.final();
    return { bytes, use: "derive" };
  } catch (cause) {
    throw new StoreError("AccessDenied", { cause });
  }
}

/**
 * Returns the data key of an object that is encrypted with a customer's key, otherwise undefined.
 * Throws if only one of caller and record has a customer's key.
 */
export function customerDataKey(
  customerKey: Uint8Array | undefined,
  encryption: Encryption | undefined,
  subject: Omit<KeySubject, "scope">,
): DataKey | undefined {
  if (encryption?.keyMd5 === undefined) {
    if (customerKey === undefined) return undefined;
    throw new StoreError("InvalidArgument", {
      detail: "The object is not encrypted with a customer key: read it without ssecKey.",
    });
  }
  if (customerKey === undefined) {
    throw new StoreError("InvalidArgument", {
      detail: "The object is encrypted with a customer key: pass the same key as ssecKey.",
    });
  }
  return openKey(customerKey, encryption, subject);
}

export function isSameKey(customerKey: Uint8Array, encryption: Encryption): encryption is CustomerEncryption {
  if (encryption.keyMd5 === undefined) return false;
  return timingSafeEqual(Buffer.from(keyMd5(customerKey)), Buffer.from(encryption.keyMd5));
}

function keyMd5(customerKey: Uint8Array): string {
  return createHash("md5").update(customerKey).digest("hex");
}

function deriveWrappingKey(customerKey: Uint8Array, salt: Uint8Array, subject: KeySubject): Uint8Array {
  // Length prefixes distinguish ("ab", "c") from ("a", "bc").
  const names = [subject.bucket, subject.key, subject.scope].map(
    (name) => `${Buffer.byteLength(name)}:${name}`,
  );
  const info = createHash("sha256")
    .update(`store sse-c key ${names.join("")}`)
    .digest();
  return new Uint8Array(hkdfSync("sha256", customerKey, salt, info, 32));
}
