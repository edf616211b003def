// The second pass of a copy: both sides held against each other, every record, and every byte of the target read back
// and held against its checksums. What differs is told by its key.
import { createHash } from "node:crypto";
import { eachOf, type Joined, joined } from "../async/merge-join.ts";
import type { StoredBlob } from "../engine/blobs.ts";
import type { Inspected, ObjectWithBody } from "../engine/records.ts";
import { type BucketRecord, settingNames } from "../model/bucket.ts";
import { StoreError } from "../model/errors.ts";
import { multipartEtag, type PartRecord, type UploadRecord } from "../model/upload.ts";
import { bytesOf, type Copying, isDamage, type Side } from "./context.ts";
import { joinedUploads } from "./copy-uploads.ts";
import { carriedDocuments } from "./documents.ts";
import { isSameBucket, isSameObject, isSamePart, isSameSetting, isSameUpload, shapeOf } from "./equality.ts";

export async function compareStores(copying: Copying): Promise<void> {
  const [buckets, there] = await Promise.all([
    copying.from.records.buckets("sound"),
    copying.to.records.buckets("sound"),
  ]);
  for (const { name } of there) {
    if (buckets.some((bucket) => bucket.name === name)) continue;
    await copying.different({ bucket: name }, "The bucket is not in the source.");
  }
  for (const bucket of buckets) await compareBucket(copying, bucket);
  await compareDocuments(copying);
}

async function compareBucket(copying: Copying, { name }: BucketRecord): Promise<void> {
  const { from, to, counts } = copying;
  const [source, target] = await Promise.all([from.records.bucket(name), to.records.bucket(name)]);
  if (source === undefined || target === undefined) {
    const side = source === undefined ? "source" : "target";
    return copying.different({ bucket: name }, `The bucket is not in the ${side}.`);
  }
  counts.buckets++;
  if (!isSameBucket(source, target)) {
    await copying.different({ bucket: name }, "The bucket is not the same: it was made anew.");
  }
  for (const setting of settingNames) {
    if (isSameSetting(source.settings[setting], target.settings[setting])) continue;
    await copying.different({ bucket: name }, `Its ${setting} rules are not the same.`);
  }
  const pairs = joined(from.records.inspect(name), to.records.inspect(name));
  await eachOf(pairs, copying, (pair) => compareObject(copying, name, pair));
  await eachOf(joinedUploads(copying, name), copying, (pair) => compareUpload(copying, name, pair));
}

async function compareObject(
  copying: Copying,
  bucket: string,
  { key, source, target }: Joined<Inspected, Inspected>,
): Promise<void> {
  const place = { bucket, key };
  if (source?.found instanceof StoreError) return copying.damaged(place, source.found);
  if (source === undefined) return copying.different(place, "It is not in the source.");
  if (target === undefined) return copying.different(place, "It is not in the target.");
  if (target.found instanceof StoreError) return copying.different(place, inTarget(target.found));
  const what = await differenceOf(copying, bucket, source.found, target.found);
  if (what !== undefined) return copying.different(place, what);
  copying.counts.objects++;
  copying.counts.bytes += source.found.record.size;
}

async function differenceOf(
  copying: Copying,
  bucket: string,
  source: ObjectWithBody,
  target: ObjectWithBody,
): Promise<string | undefined> {
  if (source.record.version !== target.record.version) return "The source has another version.";
  if (!isSameObject(source.record, target.record)) return "Its metadata is not the same.";
  if (shapeOf(source.body) !== shapeOf(target.body)) return "Its parts are not the same.";
  if (source.body.home === "inline" && target.body.home === "inline") {
    copying.advance(target.body.bytes.length);
    return Buffer.compare(source.body.bytes, target.body.bytes) === 0 ? undefined : otherBytes;
  }
  const { encryption, etag } = source.record;
  const named = (side: Side) => async () =>
    (await side.records.object(bucket, source.record.key))?.version === source.record.version;
  return compareBytes(copying, bucket, {
    source: { blobs: blobsOf(source), stillNamed: named(copying.from) },
    target: { blobs: blobsOf(target), stillNamed: named(copying.to) },
    isRight: (hashes) => encryption === undefined && etag === etagOf(target, hashes),
  });
}

function blobsOf({ body }: ObjectWithBody): readonly StoredBlob[] {
  if (body.home === "inline") return [];
  return body.home === "blob" ? [body.blob] : body.parts.map(({ blob }) => blob);
}

function etagOf({ body }: ObjectWithBody, hashes: readonly string[]): string {
  return body.home === "parts" ? multipartEtag(hashes) : hashes.join();
}

const otherBytes = "Its bytes are not the same.";

interface Bytes {
  readonly blobs: readonly StoredBlob[];
  readonly stillNamed: () => Promise<boolean>;
}

interface BytesToCompare {
  readonly source: Bytes;
  readonly target: Bytes;
  /** Whether the MD5s of the stored blobs, in hex, are what the record says. */
  readonly isRight: (hashes: readonly string[]) => boolean;
}

/** The target's by themselves where the record tells their hash; else against the source's. */
async function compareBytes(
  copying: Copying,
  bucket: string,
  { source, target, isRight }: BytesToCompare,
): Promise<string | undefined> {
  let hashes: readonly string[];
  try {
    hashes = await hashesOf(copying, copying.to, bucket, target);
  } catch (error) {
    if (!isDamage(error)) throw error;
    return inTarget(error);
  }
  if (isRight(hashes)) return undefined;
  try {
    const expected = await hashesOf({ ...copying, advance: () => {} }, copying.from, bucket, source);
    return expected.join() === hashes.join() ? undefined : otherBytes;
  } catch (error) {
    if (!isDamage(error)) throw error;
    return `It cannot be read in the source: ${error.detail}`;
  }
}

async function hashesOf(
  copying: Copying,
  { blobs: port }: Side,
  bucket: string,
  { blobs, stillNamed }: Bytes,
): Promise<readonly string[]> {
  const reader = await port.open(bucket, blobs, stillNamed);
  if (reader === undefined) {
    throw new StoreError("InternalError", { detail: "It was changed while it was being compared." });
  }
  try {
    const hashes: string[] = [];
    for (const blob of blobs) {
      const hash = createHash("md5");
      for await (const chunk of bytesOf(copying, reader, blob)) hash.update(chunk);
      hashes.push(hash.digest("hex"));
    }
    return hashes;
  } finally {
    await reader.close();
  }
}

async function compareUpload(
  copying: Copying,
  bucket: string,
  { key, source, target }: Joined<UploadRecord, UploadRecord>,
): Promise<void> {
  const { id } = (source ?? target)!;
  const place = { bucket, key };
  if (source === undefined) return copying.different(place, `Its upload ${id} is not in the source.`);
  if (target === undefined) return copying.different(place, `Its upload ${id} is not in the target.`);
  if (!isSameUpload(source, target)) return copying.different(place, `Its upload ${id} is not the same.`);
  const [from, to] = await Promise.all(
    [copying.from, copying.to].map((side) => side.records.parts(bucket, id)),
  );
  const isSame = from!.length === to!.length && from!.every((part, i) => isSamePart(part, to![i]!));
  if (!isSame) return copying.different(place, `Its upload ${id} has other parts.`);
  for (const [i, part] of to!.entries()) {
    const named = (side: Side) => async () =>
      (await side.records.parts(bucket, id)).some(({ number }) => number === part.number);
    const what = await compareBytes({ ...copying, advance: () => {} }, bucket, {
      source: { blobs: [blobOf(from![i]!)], stillNamed: named(copying.from) },
      target: { blobs: [blobOf(part)], stillNamed: named(copying.to) },
      isRight: ([hash]) => source.encryption === undefined && hash === part.etag,
    });
    if (what !== undefined)
      return copying.different(place, `Part ${part.number} of its upload ${id}: ${what}`);
  }
  copying.counts.uploads++;
}

function blobOf({ blob, stored }: PartRecord): StoredBlob {
  return { id: blob, size: stored };
}

async function compareDocuments(copying: Copying): Promise<void> {
  for await (const { kind, name, source, target } of carriedDocuments(copying)) {
    if (source !== undefined && source.text === target?.text) copying.counts.documents++;
    else await copying.different({}, `The ${kind} "${name}" is not the same on both sides.`);
  }
}

function inTarget({ detail }: StoreError): string {
  return `It cannot be read back from the target: ${detail}`;
}
