// Brings one bucket over: itself with its settings, then its objects in key order, then its uploads. What the target
// has already is passed by; what the source no longer has goes.

import { eachOf, type Joined, joined } from "../async/merge-join.ts";
import type { Inspected, Records } from "../engine/records.ts";
import { type Bucket, type BucketRecord, settingNames } from "../model/bucket.ts";
import { CopyError } from "../model/copy.ts";
import { StoreError } from "../model/errors.ts";
import type { Key } from "../model/key.ts";
import { limits } from "../model/limits.ts";
import type { Position } from "../model/listing.ts";
import type { ObjectRecord } from "../model/object.ts";
import { type Copying, isDamage, type Side } from "./context.ts";
import { commit, copyObject } from "./copy-object.ts";
import { copyUploads } from "./copy-uploads.ts";
import { isSameBucket, isSameObject, isSameSetting } from "./equality.ts";

export async function copyBucket(copying: Copying, { name }: BucketRecord): Promise<void> {
  const { from, to } = copying;
  const source = await from.records.bucket(name);
  if (source === undefined) return;
  const before = await to.records.bucket(name);
  // Made anew since an earlier run.
  if (before !== undefined && !isSameBucket(source, before)) await removeBucket(copying, name);
  await prepareBucket(copying, source);
  const pairs = joined(from.records.inspect(name), recordsOf(to, name));
  await eachOf(pairs, copying, (pair) => bringObject(copying, name, pair));
  await copyUploads(copying, name);
}

async function prepareBucket(copying: Copying, { settings, ...record }: Bucket): Promise<void> {
  const { records } = copying.to;
  await records.createBucket(record);
  const there = await records.bucket(record.name);
  for (const name of settingNames) {
    if (isSameSetting(settings[name], there?.settings[name])) continue;
    await commit(copying, record.name, { mutations: [{ kind: "put setting", name, value: settings[name] }] });
  }
}

/** Every record of a bucket, in key order. */
async function* recordsOf({ records }: Side, bucket: string): AsyncGenerator<ObjectRecord> {
  let after: Position | undefined;
  do {
    const scan = { prefix: "", delimiter: "", after, limit: limits.listEntries };
    const page = await records.objects(bucket, { ...scan, metadataBytes: limits.listMetadataBytes });
    for (const entry of page.entries) if ("record" in entry) yield entry.record;
    after = page.next;
  } while (after !== undefined);
}

async function bringObject(
  copying: Copying,
  bucket: string,
  { key, source, target }: Joined<Inspected, ObjectRecord>,
): Promise<void> {
  if (source === undefined) return dropObject(copying, bucket, target!);
  const { found } = source;
  if (found instanceof StoreError) return copying.damaged({ bucket, key }, found);
  if (target?.version !== found.record.version) return copyObject(copying, bucket, found, target?.version);
  copying.advance(found.record.size);
  if (isSameObject(found.record, target)) return;
  const there = await copying.to.records.objectWithBody(bucket, key);
  if (there === undefined) throw new CopyError(`The target loses what was copied: "${bucket}/${key}".`);
  await commit(copying, bucket, {
    checks: [{ kind: "object", key, version: target.version }],
    mutations: [{ kind: "restate object", record: found.record, body: there.body }],
  });
}

/** Goes only when the source says that there is none: one that damage hides is told by its read. */
async function dropObject(
  copying: Copying,
  bucket: string,
  { key, version }: { readonly key: Key; readonly version: string },
): Promise<void> {
  try {
    if ((await copying.from.records.object(bucket, key)) !== undefined) return;
  } catch (error) {
    if (!isDamage(error)) throw error;
    return copying.damaged({ bucket, key }, error);
  }
  await commit(copying, bucket, {
    checks: [{ kind: "object", key, version }],
    mutations: [{ kind: "delete object", key }],
  });
}

/** Buckets that an earlier run brought over and the source no longer has. */
export async function dropBuckets(copying: Copying, kept: readonly BucketRecord[]): Promise<void> {
  const names = new Set(kept.map(({ name }) => name));
  for (const { name } of await copying.to.records.buckets()) {
    if (names.has(name)) continue;
    try {
      if ((await copying.from.records.bucket(name)) === undefined) await removeBucket(copying, name);
    } catch (error) {
      if (!isDamage(error)) throw error;
      await copying.damaged({ bucket: name }, error);
    }
  }
}

async function removeBucket(copying: Copying, bucket: string): Promise<void> {
  const { records } = copying.to;
  await eachOf(recordsOf(copying.to, bucket), copying, async ({ key, version }) =>
    commit(copying, bucket, {
      checks: [{ kind: "object", key, version }],
      mutations: [{ kind: "delete object", key }],
    }),
  );
  if ((await records.deleteBucket(bucket)) === "not empty") {
    throw new CopyError(`Something else writes into the bucket "${bucket}" of the target.`);
  }
}

/** Damage of the source that no object or upload shows by itself. */
export async function auditSource(
  copying: Copying,
  records: Records,
  bucket: string | undefined,
): Promise<void> {
  for await (const { bucket: named = bucket, key, what } of records.audit(bucket, "records")) {
    await copying.damaged({ bucket: named, key }, new StoreError("InternalError", { detail: what }));
  }
}
