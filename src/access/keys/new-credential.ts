// Validates the account and grants of a new access key and generates its id and secret.
import { randomBytes } from "node:crypto";
import { checkBucketName, defaultAccount } from "../../model/bucket.ts";
import type { Grant } from "../grants.ts";
import type { CredentialFields } from "./credential-record.ts";
import type { NewCredential } from "./credentials.ts";
import type { KeyLimits } from "./key-rates.ts";

/** An access key cannot be created or decrypted. The message never contains a secret. */
export class CredentialError extends Error {
  override readonly name = "CredentialError";
}

/** Checks the settings of a new access key and returns its fields. */
export function toNewFields(options: NewCredential, created: number): CredentialFields {
  const { account = defaultAccount, name, grants, expires, limits } = options;
  checkAccount(account);
  if (name !== undefined) checkName(name);
  if (limits !== undefined) checkLimits(limits);
  for (const { bucket } of grants ?? []) checkGrantBucket(bucket);
  if (expires !== undefined && !(expires > created))
    throw new CredentialError("The expiration time is in the past: specify a later time.");
  return {
    account,
    ...(name === undefined ? {} : { name }),
    ...(grants === undefined ? {} : { grants: mergeGrants(grants) }),
    created,
    ...(expires === undefined ? {} : { expires }),
    ...(limits === undefined ? {} : { limits }),
  };
}

const accountShape = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

export function checkAccount(account: string): void {
  if (accountShape.test(account)) return;
  throw new CredentialError(
    `Account name "${account}" is not valid: use up to 63 lowercase letters, digits and dashes, ` +
      "with a letter or digit at both ends.",
  );
}

const maxNameLength = 128;

export function checkName(name: string): void {
  if (name !== "" && name.length <= maxNameLength && !/[\x00-\x1f\x7f-\x9f]/.test(name)) return;
  throw new CredentialError(
    `The name of an access key must have 1 to ${maxNameLength} characters, without control characters.`,
  );
}

/** Ids of this store and of other systems. The length and characters limit what can be looked up. */
const accessKeyShape = /^[A-Za-z0-9][A-Za-z0-9._@+-]{2,127}$/;

export function isAccessKeyId(text: string): boolean {
  return accessKeyShape.test(text);
}

/** Checks the id and the secret of an access key that another system created. */
export function checkImported(accessKeyId: string, secret: string): void {
  if (!isAccessKeyId(accessKeyId)) {
    throw new CredentialError(
      "The access key id must have 3 to 128 letters, digits and the characters . _ @ + -, " +
        "and start with a letter or digit.",
    );
  }
  if (/^[\x21-\x7e]{8,128}$/.test(secret)) return;
  throw new CredentialError(
    "The secret access key must have 8 to 128 printable ASCII characters, without spaces.",
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

export function checkLimits({ requestsPerSecond, bytesPerSecond }: KeyLimits): void {
  for (const limit of [requestsPerSecond, bytesPerSecond]) {
    if (limit !== undefined && !(Number.isSafeInteger(limit) && limit >= 1))
      throw new CredentialError("A rate is a whole number per second, at least 1.");
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
