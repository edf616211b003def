// Helpers that the tests of the records contract share.
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { Blobs } from "../../../src/engine/blobs.ts";
import type { Change, Mutation, Records } from "../../../src/engine/records.ts";
import type { BucketRecord } from "../../../src/model/bucket.ts";

/** Records with their blobs. A record may reference only blobs that were staged for its bucket. */
export interface Ports {
  readonly records: Records;
  readonly blobs: Blobs;
}

export type OpenRecords = (t: TestContext) => Promise<Ports>;

/** Tests that share one pair of ports; each starts with an empty bucket. */
export type Chapter = (t: TestContext, ports: Ports) => Promise<void>;

export interface OpenedBucket {
  readonly records: Records;
  /** Stages new, unreferenced blobs in the bucket and returns their ids by label. */
  stage<Label extends string>(...labels: Label[]): Promise<Record<Label, string>>;
  /** Stages `count` blobs and returns their ids. */
  stageMany(count: number): Promise<string[]>;
}

export const bucket = "bucket";

export function bucketRecord(name: string, fields: Partial<BucketRecord> = {}): BucketRecord {
  return { name, created: 1_700_000_000_000, storageClass: "Standard", account: "default", ...fields };
}

/** Creates the bucket, or replaces it if it exists. */
export async function emptyBucket({ records, blobs }: Ports): Promise<OpenedBucket> {
  if ((await records.bucket(bucket)) !== undefined) await removeBucket(records);
  assert.equal(await records.createBucket(bucketRecord(bucket)), true);
  async function newBlob(): Promise<string> {
    const staged = await blobs.stage(bucket, nothing());
    staged.keep();
    return staged.id;
  }
  const stageMany = (count: number) => Promise.all(Array.from({ length: count }, newBlob));
  return {
    records,
    async stage<Label extends string>(...labels: Label[]) {
      const ids = await stageMany(labels.length);
      return Object.fromEntries(labels.map((label, i) => [label, ids[i]])) as Record<Label, string>;
    },
    stageMany,
  };
}

async function removeBucket(records: Records): Promise<void> {
  const protection = (await records.bucket(bucket))!.settings;
  const { entries } = await records.versions(bucket, { prefix: "", delimiter: "", limit: 1000 });
  if (entries.length === 0) {
    assert.equal(await records.deleteBucket(bucket), "deleted");
    return;
  }
  const mutations = entries.flatMap((entry): Mutation[] => {
    if (!("record" in entry)) return [];
    const { key, version } = entry.record.version;
    return [{ kind: "delete version", key, version }];
  });
  assert.equal(await records.commit(bucket, { mutations, protection }), "committed");
  await removeBucket(records);
}

async function* nothing(): AsyncIterable<Uint8Array> {}

export async function apply(records: Records, ...mutations: Mutation[]): Promise<void> {
  assert.equal(await records.commit(bucket, { mutations }), "committed");
}

export async function conflicts(records: Records, change: Change): Promise<void> {
  assert.equal(await records.commit(bucket, change), "conflict");
}

/** Returns the blobs of every garbage entry, oldest first. */
export async function buriedBlobs(records: Records): Promise<string[][]> {
  const buried = await records.garbage(bucket, 0, 1000);
  return buried.map(({ blobs }) => [...blobs]);
}
