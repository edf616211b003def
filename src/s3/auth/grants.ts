// What an access key may do: rights on a bucket, or on every bucket of its account. And the short forms people
// write grants and times in.
import type { BucketRecord } from "../../model/bucket.ts";

/** Read and write objects, list a bucket's objects; admin is all of these, and the bucket itself. */
export const rights = ["read", "write", "list", "admin"] as const;
export type Right = (typeof rights)[number];

export interface Grant {
  /** A bucket's name, or `*` for all of the account's. */
  readonly bucket: string;
  readonly rights: readonly Right[];
  /** Which bucket of that name. Absent for `*`, and in records of earlier versions until they are bound. */
  readonly identity?: string | undefined;
}

/** The same as long as the bucket exists, on every copy of the store, and of no other bucket of that name. */
export function bucketIdentity({ created, account }: Pick<BucketRecord, "created" | "account">): string {
  return `${created} ${account}`;
}

/** Whether the grants reach this very bucket; `*` reaches those of the key's own account. */
export function allowsOnBucket(
  grants: readonly Grant[] | undefined,
  bucket: BucketRecord,
  right: Right,
  isOwn: boolean,
): boolean {
  if (grants === undefined) return isOwn;
  return grants.some((grant) => {
    const appliesToBucket =
      grant.bucket === "*" ? isOwn : grant.bucket === bucket.name && isBoundTo(grant, bucket);
    return appliesToBucket && (grant.rights.includes(right) || grant.rights.includes("admin"));
  });
}

function isBoundTo({ identity }: Grant, bucket: BucketRecord): boolean {
  return identity === undefined || identity === bucketIdentity(bucket);
}

/** Without any grants everything of the account is allowed. */
export function allows(grants: readonly Grant[] | undefined, bucket: string, right: Right): boolean {
  if (grants === undefined) return true;
  return grants.some(
    (grant) =>
      (grant.bucket === "*" || grant.bucket === bucket) &&
      (grant.rights.includes(right) || grant.rights.includes("admin")),
  );
}

/** `photos:read,write`; a RangeError says what is wrong. */
export function parseGrant(text: string): Grant {
  const example = "write BUCKET:RIGHTS, such as photos:read,list or *:admin";
  const colon = text.indexOf(":");
  if (colon === -1) throw new RangeError(`The grant "${text}" names no rights: ${example}.`);
  const bucket = text.slice(0, colon);
  if (bucket === "") throw new RangeError(`The grant "${text}" names no bucket: ${example}.`);
  const given = text.slice(colon + 1).split(",");
  for (const word of given) {
    if (!rights.some((right) => right === word)) {
      const what = word === "" ? `The grant "${text}" has an empty right` : `There is no right "${word}"`;
      throw new RangeError(`${what}: the rights are ${rights.join(", ")}.`);
    }
  }
  return { bucket, rights: rights.filter((right) => given.includes(right)) };
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

/** `30d` in milliseconds; a RangeError says what is wrong. */
export function parseDuration(text: string): number {
  const match = /^(\d+)([a-z]+)$/.exec(text.trim().toLowerCase());
  const unit = units.get(match?.[2] ?? "");
  if (match === null || unit === undefined) {
    throw new RangeError(`"${text}" is not a time: write a number with s, m, h, d or w, such as 30d or 12h.`);
  }
  const duration = Number(match[1]) * unit;
  if (duration === 0) throw new RangeError(`"${text}" is no time at all: write 1 or more.`);
  if (duration > maxYears * 366 * day) {
    throw new RangeError(`"${text}" is longer than ${maxYears} years: leave it out for no end.`);
  }
  return duration;
}
