// What a new access key is made of: an account, grants that can be, an id and a secret.
import { randomBytes } from "node:crypto";
import { checkBucketName } from "../../model/bucket.ts";
import type { Grant } from "./grants.ts";

/** A key that cannot be made, or one that cannot be opened; the message never holds a secret. */
export class CredentialError extends Error {
  override readonly name = "CredentialError";
}

const accountShape = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

export function checkAccount(account: string): void {
  if (accountShape.test(account)) return;
  throw new CredentialError(
    `"${account}" cannot be an account's name: it is lowercase letters, digits and dashes, at most 63 of ` +
      "them, a letter or digit at both ends.",
  );
}

export function checkGrantBucket(bucket: string): void {
  if (bucket === "*") return;
  try {
    checkBucketName(bucket);
  } catch (cause) {
    throw new CredentialError(`The grant names "${bucket}", which cannot be a bucket's name.`, { cause });
  }
}

/** One grant a bucket. */
export function mergeGrants(grants: readonly Grant[]): Grant[] {
  const byBucket = new Map<string, Grant>();
  for (const { bucket, rights, identity } of grants) {
    const all = new Set([...(byBucket.get(bucket)?.rights ?? []), ...rights]);
    byBucket.set(bucket, { bucket, rights: [...all], ...(identity === undefined ? {} : { identity }) });
  }
  return [...byBucket.values()];
}

export function newAccessKeyId(): string {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  return `STORE${Array.from(randomBytes(15), (byte) => alphabet[byte & 31]).join("")}`;
}

/** 40 characters of base64url. */
export function newSecret(): string {
  return randomBytes(30).toString("base64url");
}
