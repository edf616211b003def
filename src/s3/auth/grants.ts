// Grants of an access key: rights on one bucket, or on every bucket of its account. Also parses
// grants and durations from the command line.
import type { BucketRecord } from "../../model/bucket.ts";

/** The admin right includes all other rights and permits operations on the bucket itself. */
export const rights = ["read", "write", "list", "admin"] as const;
export type Right = (typeof rights)[number];

export interface Grant {
  /** A bucket name, or `*` for every bucket of the account. */
  readonly bucket: string;
  readonly rights: readonly Right[];
  /** Identity of the bucket. Absent for `*` and in unbound grants of earlier versions. */
  readonly identity?: string | undefined;
}

/** Identifies a bucket in every copy of the store. A later bucket of the same name differs. */
export function bucketIdentity({ created, account }: Pick<BucketRecord, "created" | "account">): string {
  return `${created} ${account}`;
}

/** `isOwn`: whether the bucket belongs to the key's account. Grants on `*` apply only then. */
export function allowsOnBucket(
  grants: readonly Grant[] | undefined,
  bucket: BucketRecord,
  right: Right,
  isOwn: boolean,
): boolean {
  if (grants === undefined) return isOwn;
  return grants.some((grant) => {
    const appliesToBucket = grant.bucket === "*" ? isOwn : isGrantOn(grant, bucket);
    return appliesToBucket && (grant.rights.includes(right) || grant.rights.includes("admin"));
  });
}

/** Whether the grant names this bucket and is not bound to an earlier bucket of the same name. */
export function isGrantOn({ bucket: name, identity }: Grant, bucket: BucketRecord): boolean {
  return name === bucket.name && (identity === undefined || identity === bucketIdentity(bucket));
}

/** Whether the grants allow `right` on a bucket name, even if no such bucket exists yet. */
export function allows(grants: readonly Grant[] | undefined, bucket: string, right: Right): boolean {
  if (grants === undefined) return true;
  return grants.some(
    (grant) =>
      (grant.bucket === "*" || grant.bucket === bucket) &&
      (grant.rights.includes(right) || grant.rights.includes("admin")),
  );
}

/** Parses `photos:read,write`. Throws a RangeError whose message is shown to the user. */
export function parseGrant(text: string): Grant {
  const example = "write BUCKET:RIGHTS, such as photos:read,list or *:admin";
  const colon = text.indexOf(":");
  if (colon === -1) throw new RangeError(`Grant "${text}" has no rights: ${example}.`);
  const bucket = text.slice(0, colon);
  if (bucket === "") throw new RangeError(`Grant "${text}" has no bucket: ${example}.`);
  const given = text.slice(colon + 1).split(",");
  for (const word of given) {
    if (!rights.some((right) => right === word)) {
      const problem = word === "" ? `Grant "${text}" has an empty right` : `Unknown right "${word}"`;
      throw new RangeError(`${problem}: use ${rights.join(", ")}.`);
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
