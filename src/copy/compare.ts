// The second stage of a copy: compares every record of both sides, and verifies every byte of the
// target against its checksums. Reports each difference with its key.
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { forEachLimit } from "../async/for-each-limit.ts";
import { type JoinedPair, mergeJoin } from "../async/merge-join.ts";
import type { StoredBlob } from "../engine/blobs.ts";
import type { InspectedObject, ObjectWithBody } from "../engine/records.ts";
import { type BucketRecord, settingNames } from "../model/bucket.ts";
import { StoreError } from "../model/errors.ts";
import type { Key } from "../model/key.ts";
import { multipartEtag, type PartRecord, type UploadRecord } from "../model/upload.ts";
import { isDeleteMarker, type Version } from "../model/version.ts";
import { type CopyContext, isDamage, readBlob, type Side } from "./context.ts";
import { joinUploads } from "./copy-uploads.ts";
import { versionsByKey } from "./copy-versions.ts";
import { pairDocuments } from "./documents.ts";
import {
  describeBody,
  isSameBucket,
  isSameObject,
  isSamePart,
  isSameSetting,
  isSameUpload,
  isSameVersion,
} from "./equality.ts";

export async function compareStores(context: CopyContext): Promise<void> {
  const [buckets, targetBuckets] = await Promise.all([
    context.from.records.buckets("sound"),
    context.to.records.buckets("sound"),
  ]);
  for (const { name } of targetBuckets) {
    if (buckets.some((bucket) => bucket.name === name)) continue;
    await context.reportDifference({ bucket: name }, "The bucket is not in the source.");
  }
  for (const bucket of buckets) await compareBucket(context, bucket);
  await compareDocuments(context);
}

async function compareBucket(context: CopyContext, { name }: BucketRecord): Promise<void> {
  const { from, to, counts } = context;
  const [source, target] = await Promise.all([from.records.bucket(name), to.records.bucket(name)]);
  if (source === undefined || target === undefined) {
    const side = source === undefined ? "source" : "target";
    return context.reportDifference({ bucket: name }, `The bucket is not in the ${side}.`);
  }
  counts.buckets++;
  if (!isSameBucket(source, target)) {
    await context.reportDifference({ bucket: name }, "The bucket was deleted and created again since.");
  }
  for (const setting of settingNames) {
    if (isSameSetting(source.settings[setting], target.settings[setting])) continue;
    await context.reportDifference({ bucket: name }, `Its ${setting} rules are not the same.`);
  }
  const pairs = mergeJoin(from.records.inspect(name), to.records.inspect(name));
  await forEachLimit(pairs, context, (pair) => compareObject(context, name, pair));
  if (source.settings.versioning !== undefined) await compareVersions(context, name);
  await forEachLimit(joinUploads(context, name), context, (pair) => compareUpload(context, name, pair));
}

async function compareObject(
  context: CopyContext,
  bucket: string,
  { key, source, target }: JoinedPair<InspectedObject, InspectedObject>,
): Promise<void> {
  const subject = { bucket, key };
  if (source?.found instanceof StoreError) return context.reportDamage(subject, source.found);
  if (source === undefined) return context.reportDifference(subject, "It is not in the source.");
  if (target === undefined) return context.reportDifference(subject, "It is not in the target.");
  if (target.found instanceof StoreError)
    return context.reportDifference(subject, unreadableInTarget(target.found));
  const what = await findDifference(context, bucket, source.found, target.found);
  if (what !== undefined) return context.reportDifference(subject, what);
  context.counts.objects++;
  context.counts.bytes += source.found.record.size;
}

/** Compares which versions both sides have, and the bytes of those that are not current. */
async function compareVersions(context: CopyContext, bucket: string): Promise<void> {
  const pairs = mergeJoin(versionsByKey(context.from, bucket), versionsByKey(context.to, bucket));
  try {
    await forEachLimit(pairs, context, async ({ key, source, target }) => {
      const what = await findVersionDifference(context, bucket, key, source?.versions, target?.versions);
      if (what !== undefined) await context.reportDifference({ bucket, key }, what);
    });
  } catch (error) {
    if (!isDamage(error)) throw error;
    await context.reportDamage({ bucket }, error);
  }
}

async function findVersionDifference(
  context: CopyContext,
  bucket: string,
  key: Key,
  source: readonly Version[] = [],
  target: readonly Version[] = [],
): Promise<string | undefined> {
  const isSame = source.length === target.length && source.every((one, i) => isSameVersion(one, target[i]!));
  if (!isSame) return "Its versions are not the same.";
  for (const { version } of source) {
    const [a, b] = await Promise.all([
      context.from.records.version(bucket, key, version),
      context.to.records.version(bucket, key, version),
    ]);
    if (a === undefined || b === undefined) return "Its versions were changed while they were compared.";
    if (a.isCurrent || isDeleteMarker(a.version) || isDeleteMarker(b.version)) continue;
    const what = await findDifference(
      context,
      bucket,
      { record: a.version, body: a.body! },
      { record: b.version, body: b.body! },
    );
    if (what !== undefined) return `Its version ${version}: ${what}`;
  }
  return undefined;
}

async function findDifference(
  context: CopyContext,
  bucket: string,
  source: ObjectWithBody,
  target: ObjectWithBody,
): Promise<string | undefined> {
  if (source.record.version !== target.record.version) return "The source has another version.";
  if (!isSameObject(source.record, target.record)) return "Its metadata is not the same.";
  if (describeBody(source.body) !== describeBody(target.body)) return "Its parts are not the same.";
  if (source.body.storage === "inline" && target.body.storage === "inline") {
    context.advance(target.body.bytes.length);
    return Buffer.compare(source.body.bytes, target.body.bytes) === 0 ? undefined : differentBytes;
  }
  const { encryption, etag } = source.record;
  const referenceCheck = (side: Side) => async () =>
    (await side.records.version(bucket, source.record.key, source.record.version)) !== undefined;
  return compareBytes(context, bucket, {
    source: { blobs: listBlobs(source), isReferenced: referenceCheck(context.from) },
    target: { blobs: listBlobs(target), isReferenced: referenceCheck(context.to) },
    matchesRecord: (hashes) => encryption === undefined && etag === computeEtag(target, hashes),
  });
}

function listBlobs({ body }: ObjectWithBody): readonly StoredBlob[] {
  if (body.storage === "inline") return [];
  return body.storage === "blob" ? [body.blob] : body.parts.map(({ blob }) => blob);
}

function computeEtag({ body }: ObjectWithBody, hashes: readonly string[]): string {
  return body.storage === "parts" ? multipartEtag(hashes) : hashes.join();
}

const differentBytes = "Its bytes are not the same.";

interface BlobSet {
  readonly blobs: readonly StoredBlob[];
  readonly isReferenced: () => Promise<boolean>;
}

interface BytesToCompare {
  readonly source: BlobSet;
  readonly target: BlobSet;
  /** Whether the hex MD5s of the stored blobs match the record. */
  readonly matchesRecord: (hashes: readonly string[]) => boolean;
}

/** Verifies the target's bytes with the record's hash. If that fails, compares with the source. */
async function compareBytes(
  context: CopyContext,
  bucket: string,
  { source, target, matchesRecord }: BytesToCompare,
): Promise<string | undefined> {
  let hashes: readonly string[];
  try {
    hashes = await hashBlobs(context, context.to, bucket, target);
  } catch (error) {
    if (!isDamage(error)) throw error;
    return unreadableInTarget(error);
  }
  if (matchesRecord(hashes)) return undefined;
  try {
    const expected = await hashBlobs({ ...context, advance: () => {} }, context.from, bucket, source);
    return expected.join() === hashes.join() ? undefined : differentBytes;
  } catch (error) {
    if (!isDamage(error)) throw error;
    return `It cannot be read in the source: ${error.detail}`;
  }
}

async function hashBlobs(
  context: CopyContext,
  { blobs: port }: Side,
  bucket: string,
  { blobs, isReferenced }: BlobSet,
): Promise<readonly string[]> {
  const reader = await port.open(bucket, blobs, isReferenced);
  if (reader === undefined) {
    throw new StoreError("Damaged", { detail: "It was changed while it was being compared." });
  }
  try {
    const hashes: string[] = [];
    for (const blob of blobs) {
      const hash = createHash("md5");
      for await (const chunk of readBlob(context, reader, blob)) hash.update(chunk);
      hashes.push(hash.digest("hex"));
    }
    return hashes;
  } finally {
    await reader.close();
  }
}

async function compareUpload(
  context: CopyContext,
  bucket: string,
  { key, source, target }: JoinedPair<UploadRecord, UploadRecord>,
): Promise<void> {
  const { id } = (source ?? target)!;
  const subject = { bucket, key };
  if (source === undefined)
    return context.reportDifference(subject, `Its upload ${id} is not in the source.`);
  if (target === undefined)
    return context.reportDifference(subject, `Its upload ${id} is not in the target.`);
  if (!isSameUpload(source, target))
    return context.reportDifference(subject, `Its upload ${id} is not the same.`);
  const [from, to] = await Promise.all(
    [context.from, context.to].map((side) => side.records.parts(bucket, id)),
  );
  const isSame = from!.length === to!.length && from!.every((part, i) => isSamePart(part, to![i]!));
  if (!isSame) return context.reportDifference(subject, `Its upload ${id} has other parts.`);
  for (const [i, part] of to!.entries()) {
    const referenceCheck = (side: Side) => async () =>
      (await side.records.parts(bucket, id)).some(({ number }) => number === part.number);
    const what = await compareBytes({ ...context, advance: () => {} }, bucket, {
      source: { blobs: [toStoredBlob(from![i]!)], isReferenced: referenceCheck(context.from) },
      target: { blobs: [toStoredBlob(part)], isReferenced: referenceCheck(context.to) },
      matchesRecord: ([hash]) => source.encryption === undefined && hash === part.etag,
    });
    if (what !== undefined)
      return context.reportDifference(subject, `Part ${part.number} of its upload ${id}: ${what}`);
  }
  context.counts.uploads++;
}

function toStoredBlob({ blob, stored }: PartRecord): StoredBlob {
  return { id: blob, size: stored };
}

async function compareDocuments(context: CopyContext): Promise<void> {
  for await (const { kind, name, source, target } of pairDocuments(context)) {
    if (source !== undefined && source.text === target?.text) context.counts.documents++;
    else await context.reportDifference({}, `The ${kind} "${name}" is not the same on both sides.`);
  }
}

function unreadableInTarget({ detail }: StoreError): string {
  return `It cannot be read back from the target: ${detail}`;
}
