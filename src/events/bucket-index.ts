// Index of the buckets that have notification rules, with one document per bucket, so that the
// deliverer does not read every bucket. The rules themselves are in the settings of the bucket.
import type { Documents } from "../engine/records.ts";

const kind = "notified bucket";

export async function indexBucket(documents: Documents, bucket: string): Promise<void> {
  if ((await documents.get(kind, bucket)) !== undefined) return;
  // Ignore a conflict: another process has created the same document.
  await documents.put(kind, bucket, "", undefined);
}

export async function listIndexedBuckets(documents: Documents): Promise<string[]> {
  return (await documents.list(kind)).map(({ name }) => name);
}

export async function unindexBucket(documents: Documents, bucket: string): Promise<void> {
  await documents.delete(kind, bucket);
}
