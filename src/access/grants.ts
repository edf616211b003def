// Grants of an access key: rights on a bucket, on a part of it, or on every bucket of the account.
// Also parses grants and durations from the command line.
import type { BucketRecord } from "../model/bucket.ts";
import { isFields, isList } from "../model/shape.ts";

/**
 * `write` may create and overwrite objects, `append` may only create them, and neither may delete
 * them. `admin` includes all other rights and permits operations on the bucket itself.
 */
export const rights = ["read", "write", "append", "list", "delete", "admin"] as const;
export type Right = (typeof rights)[number];

export interface Grant {
  /** A bucket name, or `*` for every bucket of the account. */
  readonly bucket: string;
  /** Limits the grant to the keys with this prefix. */
  readonly prefix?: string | undefined;
  /** Limits the grant to this key. */
  readonly object?: string | undefined;
  readonly rights: readonly Right[];
  /** Identity of the bucket. Absent for `*` and in unbound grants of earlier versions. */
  readonly identity?: string | undefined;
}

export function isGrant(value: unknown): value is Grant {
  if (!isFields(value)) return false;
  const { bucket, prefix, object, rights: given, identity } = value;
  const isRight = (one: unknown): one is Right => rights.includes(one as Right);
  return (
    typeof bucket === "string" &&
    [prefix, object, identity].every((text) => text === undefined || typeof text === "string") &&
    isList(given, 100, isRight)
  );
}

/** What an operation concerns. */
export type Target =
  | { readonly kind: "object"; readonly key: string }
  /** The keys with a prefix. */
  | { readonly kind: "listing"; readonly prefix: string }
  | { readonly kind: "bucket" }
  /** Any part of the bucket: a right on a single key suffices. */
  | { readonly kind: "part" };

/** Identifies a bucket in every copy of the store. A later bucket of the same name differs. */
export function bucketIdentity({ created, account }: Pick<BucketRecord, "created" | "account">): string {
  return `${created} ${account}`;
}

/** Whether the grant names this bucket and is not bound to an earlier bucket of the same name. */
export function isGrantOn({ bucket: name, identity }: Grant, bucket: BucketRecord): boolean {
  return name === bucket.name && (identity === undefined || identity === bucketIdentity(bucket));
}

export function includesRight({ rights }: Grant, right: Right): boolean {
  return rights.includes(right) || rights.includes("admin");
}

/** Whether the target is inside the part of the bucket that the grant is limited to. */
export function coversTarget({ prefix = "", object }: Grant, target: Target): boolean {
  switch (target.kind) {
    case "object":
      return object === undefined ? target.key.startsWith(prefix) : target.key === object;
    case "listing":
      return object === undefined && target.prefix.startsWith(prefix);
    case "bucket":
      return object === undefined && prefix === "";
    case "part":
      return true;
  }
}

/** Whether the grants allow creating a bucket of this name. */
export function canCreateBucket(grants: readonly Grant[] | undefined, bucket: string): boolean {
  if (grants === undefined) return true;
  return grants.some(
    (grant) =>
      (grant.bucket === "*" || grant.bucket === bucket) &&
      includesRight(grant, "admin") &&
      coversTarget(grant, { kind: "bucket" }),
  );
}

/** Parses `photos:read,write` or `photos/2026/*:read`. The message of a RangeError is for the user. */
export function parseGrant(text: string): Grant {
  const example =
    "write BUCKET:RIGHTS or BUCKET/PREFIX*:RIGHTS, such as photos:read,list or photos/2026/*:read";
  const colon = text.lastIndexOf(":");
  if (colon === -1) throw new RangeError(`Grant "${text}" has no rights: ${example}.`);
  const resource = text.slice(0, colon);
  const slash = resource.indexOf("/");
  const bucket = slash === -1 ? resource : resource.slice(0, slash);
  if (bucket === "") throw new RangeError(`Grant "${text}" has no bucket: ${example}.`);
  const given = text.slice(colon + 1).split(",");
  for (const word of given) {
    if (!rights.some((right) => right === word)) {
      const problem = word === "" ? `Grant "${text}" has an empty right` : `Unknown right "${word}"`;
      throw new RangeError(`${problem}: use ${rights.join(", ")}.`);
    }
  }
  const part = slash === -1 ? {} : parsePart(resource.slice(slash + 1), text);
  return { bucket, ...part, rights: rights.filter((right) => given.includes(right)) };
}

/** Parses what follows the bucket: `2026/*` is a prefix, `2026/a.jpg` is a key. */
function parsePart(part: string, grant: string): Pick<Grant, "prefix" | "object"> {
  const star = part.indexOf("*");
  if (star === -1) {
    if (part !== "") return { object: part };
    throw new RangeError(`Grant "${grant}" has no key after the slash: write a key, or * for all keys.`);
  }
  if (star !== part.length - 1)
    throw new RangeError(`Grant "${grant}" has a * inside the prefix: it is allowed only at the end.`);
  return star === 0 ? {} : { prefix: part.slice(0, star) };
}

/** Formats a grant as `parseGrant` reads it. */
export function formatGrant({ bucket, prefix, object, rights }: Grant): string {
  const part = object === undefined ? (prefix ? `/${prefix}*` : "") : `/${object}`;
  return `${bucket}${part}:${rights.join(",")}`;
}

const day = 24 * 3600 * 1000;
const units = new Map([
  ["s", 1000],
  ["m", 60_000],
  ["h", 3_600_000],
  ["d", day],
  ["w", 7 * day],
]);

const maxYears = 100;

/** Parses `30d` to milliseconds. Throws a RangeError whose message is shown to the user. */
export function parseDuration(text: string): number {
  const match = /^(\d+)([a-z]+)$/.exec(text.trim().toLowerCase());
  const unit = units.get(match?.[2] ?? "");
  if (match === null || unit === undefined) {
    throw new RangeError(
      `"${text}" is not a duration: write a number and s, m, h, d or w, such as 30d or 12h.`,
    );
  }
  const duration = Number(match[1]) * unit;
  if (duration === 0) throw new RangeError(`"${text}" is zero: write a duration of 1 or more.`);
  if (duration > maxYears * 366 * day) {
    throw new RangeError(
      `"${text}" is longer than ${maxYears} years: write a shorter duration, or omit it for no limit.`,
    );
  }
  return duration;
}
