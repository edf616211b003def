// Removes expired keys of namespaces. Each delete commits only if the key still has the expired
// version, so a key that was put again in the meantime stays.
import { setImmediate } from "node:timers";
import type { Key } from "../../model/key.ts";
import { isExpired } from "../../model/key-value.ts";
import type { Position } from "../../model/listing.ts";
import type { ObjectRecord } from "../../model/object.ts";
import type { Context } from "../context.ts";

const pageKeys = 1000;
const batchKeys = 100;

/** Expiration in seconds since the epoch. Undefined if the key does not expire. */
export function storedExpiration({ customMetadata }: ObjectRecord): number | undefined {
  const text = customMetadata.size === 0 ? undefined : customMetadata.get("expiration");
  return text === undefined ? undefined : Number(text);
}

/** Returns the number of removed keys. */
export async function removeExpiredKeys(context: Context, bucket: string): Promise<number> {
  let removed = 0;
  let after: Position | undefined;
  do {
    const page = await context.records.objects(bucket, {
      prefix: "",
      delimiter: "",
      after,
      limit: pageKeys,
      metadataBytes: Number.POSITIVE_INFINITY,
    });
    const now = context.now();
    const expired = page.entries.flatMap((entry) =>
      "record" in entry && isExpired(storedExpiration(entry.record), now) ? [entry.record] : [],
    );
    for (let i = 0; i < expired.length; i += batchKeys) {
      removed += await removeVersions(context, bucket, expired.slice(i, i + batchKeys));
    }
    after = page.next;
    // Let pending requests run between pages.
    await new Promise((resolve) => setImmediate(resolve));
  } while (after !== undefined);
  return removed;
}

/** Removes the versions in one commit, or one by one if another writer changed a key. */
async function removeVersions(
  context: Context,
  bucket: string,
  seen: readonly { key: Key; version: string }[],
): Promise<number> {
  const checks = seen.map(({ key, version }) => ({ kind: "object", key, version }) as const);
  const mutations = seen.map(({ key }) => ({ kind: "delete object", key }) as const);
  if ((await context.records.commit(bucket, { checks, mutations })) === "committed") return seen.length;
  if (seen.length === 1) return 0;
  let removed = 0;
  for (const one of seen) removed += await removeVersions(context, bucket, [one]);
  return removed;
}
