// Binds grants to the identity of their bucket, so that a grant does not apply to a later bucket
// with the same name.
import type { BucketRecord } from "../../model/bucket.ts";
import { bucketIdentity, type Grant } from "../grants.ts";

export type FindBucket = (name: string) => Promise<BucketRecord | undefined>;

/** Binds each grant to the current bucket of its name. Drops grants whose bucket does not exist. */
export async function bindGrants(grants: readonly Grant[], find: FindBucket): Promise<Grant[]> {
  return (await createGrantBinder(grants, find))(grants);
}

/** Looks up the buckets. The returned function is synchronous, so that it can run in a commit. */
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
