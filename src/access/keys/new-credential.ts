// Validates the account and grants of a new access key and generates its id and secret.
import { randomBytes } from "node:crypto";
import { checkBucketName } from "../../model/bucket.ts";
import type { Grant } from "../grants.ts";

/** An access key cannot be created or decrypted. The message never contains a secret. */
export class CredentialError extends Error {
  override readonly name = "CredentialError";
}

const accountShape = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

export function checkAccount(account: string): void {
  if (accountShape.test(account)) return;
  throw new CredentialError(
    `Account name "${account}" is not valid: use up to 63 lowercase letters, digits and dashes, ` +
      "with a letter or digit at both ends.",
  );
}

export function checkGrantBucket(bucket: string): void {
  if (bucket === "*") return;
  try {
    checkBucketName(bucket);
  } catch (cause) {
    throw new CredentialError(`The grant names "${bucket}", which is not a valid bucket name.`, { cause });
  }
}

/** Merges grants on the same part of a bucket into one. */
export function mergeGrants(grants: readonly Grant[]): Grant[] {
  const merged = new Map<string, Grant>();
  for (const grant of grants) {
    const { bucket, prefix, object, rights } = grant;
    const part = JSON.stringify([bucket, prefix ?? "", object ?? null]);
    merged.set(part, { ...grant, rights: [...new Set([...(merged.get(part)?.rights ?? []), ...rights])] });
  }
  return [...merged.values()];
}

export function newAccessKeyId(): string {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  return `STORE${Array.from(randomBytes(15), (byte) => alphabet[byte & 31]).join("")}`;
}

export function newSecret(): string {
  return randomBytes(30).toString("base64url");
}
