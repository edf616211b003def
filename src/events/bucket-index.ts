// Index of buckets that have notification rules, one document each, so that the deliverer need not
// read every bucket. The settings of the bucket decide which events are delivered.
import type { Documents } from "../engine/records.ts";

const kind = "notified bucket";

export async function indexBucket(documents: Documents, bucket: string): Promise<void> {
  if ((await documents.get(kind, bucket)) !== undefined) return;
  // On a conflict another process has created the same document.
  await documents.put(kind, bucket, "", undefined);
}

export async function listIndexedBuckets(documents: Documents): Promise<string[]> {
  return (await documents.list(kind)).map(({ name }) => name);
}

export async function unindexBucket(documents: Documents, bucket: string): Promise<void> {
  await documents.delete(kind, bucket);
}
