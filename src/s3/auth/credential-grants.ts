// Grants and the buckets they are for. A grant names a bucket and is bound to its identity: another bucket that gets
// the name later is not meant, whoever creates it.
import type { BucketRecord } from "../../model/bucket.ts";
import { bucketIdentity, type Grant } from "./grants.ts";

export type FindBucket = (name: string) => Promise<BucketRecord | undefined>;

/** Bound to the buckets that have these names now; grants for a bucket that does not exist are left out. */
export async function bindGrants(grants: readonly Grant[], find: FindBucket): Promise<Grant[]> {
  return (await createGrantBinder(grants, find))(grants);
}

/** Looks the buckets up now, so that binding itself takes no time: it may have to be repeated on a newer record. */
export async function createGrantBinder(
  grants: readonly Grant[],
  find: FindBucket,
): Promise<(grants: readonly Grant[]) => Grant[]> {
  const identities = new Map<string, string | undefined>();
  for (const { bucket: name } of grants.filter(isUnbound)) {
    const bucket = await find(name);
    identities.set(name, bucket && bucketIdentity(bucket));
  }
  return (current) =>
    current.flatMap((grant) => {
      if (!isUnbound(grant) || !identities.has(grant.bucket)) return [grant];
      const identity = identities.get(grant.bucket);
      return identity === undefined ? [] : [{ ...grant, identity }];
    });
}

export function isUnbound({ bucket, identity }: Grant): boolean {
  return bucket !== "*" && identity === undefined;
}

/** Whether a grant ends with this bucket. */
export function isGrantOn(grant: Grant, bucket: BucketRecord): boolean {
  if (grant.bucket !== bucket.name) return false;
  return grant.identity === undefined || grant.identity === bucketIdentity(bucket);
}
