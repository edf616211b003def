// What the chapters of the records contract share.
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { Change, Mutation, Records } from "../../../src/engine/records.ts";
import type { BucketRecord } from "../../../src/model/bucket.ts";

export type OpenRecords = (t: TestContext) => Promise<Records>;

export const bucket = "bucket";

export function bucketRecord(name: string, fields: Partial<BucketRecord> = {}): BucketRecord {
  return { name, created: 1_700_000_000_000, storageClass: "Standard", ...fields };
}

/** Records with one empty bucket. */
export async function openBucket(open: OpenRecords, t: TestContext): Promise<Records> {
  const records = await open(t);
  assert.equal(await records.createBucket(bucketRecord(bucket)), true);
  return records;
}

export async function apply(records: Records, ...mutations: Mutation[]): Promise<void> {
  assert.equal(await records.commit(bucket, { mutations }), "committed");
}

export async function conflicts(records: Records, change: Change): Promise<void> {
  assert.equal(await records.commit(bucket, change), "conflict");
}

/** The blobs of every entry, oldest first. */
export async function buriedBlobs(records: Records): Promise<string[][]> {
  const buried = await records.buried(bucket, 0, 1000);
  return buried.map(({ blobs }) => [...blobs]);
}
