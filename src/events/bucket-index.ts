// Which buckets have rules, by a document for each: whoever delivers need not ask every bucket there is. The rules
// themselves are a setting of the bucket, and they alone say what is told.
import type { Documents } from "../engine/records.ts";

const kind = "notified bucket";

export async function indexBucket(documents: Documents, bucket: string): Promise<void> {
  if ((await documents.get(kind, bucket)) !== undefined) return;
  // Another who notes the same has done the work.
  await documents.put(kind, bucket, "", undefined);
}

export async function listIndexedBuckets(documents: Documents): Promise<string[]> {
  return (await documents.list(kind)).map(({ name }) => name);
}

export async function unindexBucket(documents: Documents, bucket: string): Promise<void> {
  await documents.delete(kind, bucket);
}
