// Key-value namespaces: names, and the limits of keys, values, metadata and expirations.
import { Buffer } from "node:buffer";
import type { Key } from "./key.ts";

export const keyValueLimits = {
  keyBytes: 512,
  valueBytes: 25 * 1024 * 1024,
  metadataBytes: 1024,
  /** Minimum time from a put to the expiration of its key, in seconds. */
  minTtl: 60,
  /** Minimum value of `cacheTtl`, in seconds. */
  minCacheTtl: 30,
  listKeys: 1000,
  bulkKeys: 100,
  bulkBytes: 25 * 1024 * 1024,
} as const;

/** Thrown if an argument of a key-value operation is refused. Has an HTTP status and a message. */
export class KeyValueError extends Error {
  override readonly name = "KeyValueError";
  readonly status: 400 | 413 | 414;

  constructor(status: 400 | 413 | 414, message: string) {
    super(message);
    this.status = status;
  }
}

const namespaceName = /^[A-Za-z0-9_.-]{1,128}$/;
export const namespaceNameRule = "1 to 128 letters, digits, underscores, dots and dashes";

export function isNamespaceName(name: string): boolean {
  return namespaceName.test(name);
}

/** Prefix of buckets that store namespaces. Other bucket names never contain a colon. */
const bucketPrefix = "kv:";

export function namespaceBucket(namespace: string): string {
  return bucketPrefix + namespace;
}

export function isNamespaceBucket(bucket: string): boolean {
  return bucket.startsWith(bucketPrefix);
}

/** Returns the namespace stored as this bucket; undefined if it is not a namespace. */
export function parseNamespaceBucket(bucket: string): string | undefined {
  if (!isNamespaceBucket(bucket)) return undefined;
  const name = bucket.slice(bucketPrefix.length);
  return isNamespaceName(name) ? name : undefined;
}

export function checkKeyValueKey(key: Key): void {
  if (key === "") throw new KeyValueError(400, "Key names must not be empty");
  if (key === "." || key === "..") {
    throw new KeyValueError(400, `Illegal key name "${key}". Please use a different name.`);
  }
  checkKeyLength(key);
}

/** Checks a key or a prefix. A prefix can be empty. */
export function checkKeyLength(key: string): void {
  const { keyBytes } = keyValueLimits;
  // A UTF-16 code unit takes at most three bytes, so short keys need not be encoded.
  if (key.length * 3 <= keyBytes) return;
  const length = Buffer.byteLength(key);
  if (length > keyBytes) {
    throw new KeyValueError(
      414,
      `UTF-8 encoded length of ${length} exceeds key length limit of ${keyBytes}.`,
    );
  }
}

export function checkValueLength(length: number): void {
  const { valueBytes } = keyValueLimits;
  if (length > valueBytes) {
    throw new KeyValueError(413, `Value length of ${length} exceeds limit of ${valueBytes}.`);
  }
}

/** Checks metadata, which is JSON text. */
export function checkKeyValueMetadata(metadata: string): void {
  const { metadataBytes } = keyValueLimits;
  const length = Buffer.byteLength(metadata);
  if (length > metadataBytes) {
    throw new KeyValueError(413, `Metadata length of ${length} exceeds limit of ${metadataBytes}.`);
  }
}

export interface ExpirationOptions {
  /** Expiration in seconds since the epoch. */
  readonly expiration?: number | undefined;
  /** Lifetime in seconds. Overrides `expiration`. */
  readonly expirationTtl?: number | undefined;
}

/** Returns the expiration of a key put now, in seconds since the epoch; undefined: never. */
export function resolveExpiration(
  { expiration, expirationTtl }: ExpirationOptions,
  nowMilliseconds: number,
): number | undefined {
  const now = Math.floor(nowMilliseconds / 1000);
  const { minTtl } = keyValueLimits;
  if (expirationTtl !== undefined) {
    const refuse = (why: string) =>
      new KeyValueError(400, `Invalid expiration_ttl of ${expirationTtl}. ${why}`);
    if (!(expirationTtl > 0)) throw refuse("Please specify integer greater than 0.");
    if (expirationTtl < minTtl) throw refuse(`Expiration TTL must be at least ${minTtl}.`);
    return checkedSeconds(now + expirationTtl, refuse);
  }
  if (expiration === undefined) return undefined;
  const refuse = (why: string) => new KeyValueError(400, `Invalid expiration of ${expiration}. ${why}`);
  if (!(expiration > now)) {
    throw refuse("Please specify integer greater than the current number of seconds since the UNIX epoch.");
  }
  if (expiration < now + minTtl) {
    throw refuse(`Expiration times must be at least ${minTtl} seconds in the future.`);
  }
  return checkedSeconds(expiration, refuse);
}

function checkedSeconds(seconds: number, refuse: (why: string) => KeyValueError): number {
  if (!Number.isSafeInteger(seconds)) throw refuse("Please specify a smaller integer.");
  return seconds;
}

export function isExpired(expiration: number | undefined, nowMilliseconds: number): boolean {
  return expiration !== undefined && expiration * 1000 <= nowMilliseconds;
}
