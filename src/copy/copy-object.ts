// Brings one object over as it is: its record, and its bytes as they are stored, so that what a customer's key has
// sealed needs no key. An object of parts comes part by part under an upload that bears its version as id: cut off,
// the next run goes on behind the last part.

import type { BlobReader, StagedBlob, StoredBlob } from "../engine/blobs.ts";
import type { Body, BodyPart, Change, ObjectWithBody } from "../engine/records.ts";
import { discardAfter } from "../engine/write-path.ts";
import { CopyError } from "../model/copy.ts";
import { StoreError } from "../model/errors.ts";
import { limits } from "../model/limits.ts";
import type { ObjectRecord } from "../model/object.ts";
import type { PartRecord, UploadRecord } from "../model/upload.ts";
import { bytesOf, type Copying, isDamage, SourceFault } from "./context.ts";

/** In the target, an object of this version stands under the key now; undefined when none does. */
export type Seen = string | undefined;

export async function copyObject(
  copying: Copying,
  bucket: string,
  found: ObjectWithBody,
  seen: Seen,
): Promise<void> {
  const { key, version } = found.record;
  for (let current: ObjectWithBody | undefined = found; current !== undefined; ) {
    try {
      if (await copyVersion(copying, bucket, current, seen)) copying.counts.copiedObjects++;
      else throw new StoreError("NoSuchKey");
      return;
    } catch (error) {
      if (error instanceof SourceFault && isDamage(error.cause)) {
        return copying.damaged({ bucket, key }, error.cause);
      }
      const isReplaced = error instanceof StoreError && error.reason === "NoSuchKey";
      if (!isReplaced) throw error instanceof SourceFault ? error.cause : error;
      const before = current.body;
      current = await copying.from.records.objectWithBody(bucket, key);
      if (current?.record.version === version && isSameBody(before, current.body)) throw error;
    }
  }
}

/** The bytes of a version may have been moved meanwhile. */
function isSameBody(before: Body, now: Body): boolean {
  return before.home !== "blob" || now.home !== "blob" || before.blob.id === now.blob.id;
}

/** False when the source has another version by now. */
async function copyVersion(
  copying: Copying,
  bucket: string,
  { record, body }: ObjectWithBody,
  seen: Seen,
): Promise<boolean> {
  if (body.home === "inline") {
    copying.advance(body.bytes.length);
    await commit(copying, bucket, putting(record, body, seen));
    return true;
  }
  const blobs = body.home === "blob" ? [body.blob] : body.parts.map(({ blob }) => blob);
  const stillNamed = async () =>
    (await copying.from.records.object(bucket, record.key))?.version === record.version;
  const reader = await openingSource(() => copying.from.blobs.open(bucket, blobs, stillNamed));
  if (reader === undefined) return false;
  try {
    if (body.home === "blob") {
      const change = (blob: StoredBlob) => putting(record, { home: "blob", blob }, seen);
      await naming(copying, bucket, await stage(copying, bucket, reader, body.blob), change);
    } else {
      await copyParts(copying, bucket, { record, parts: body.parts, reader, seen });
    }
    return true;
  } finally {
    await reader.close();
  }
}

interface PartsCopy {
  readonly record: ObjectRecord;
  readonly parts: readonly BodyPart[];
  readonly reader: BlobReader;
  readonly seen: Seen;
}

async function copyParts(copying: Copying, bucket: string, copy: PartsCopy): Promise<void> {
  const { record, parts, reader, seen } = copy;
  const upload = carrier(record, copying.now());
  const { key, id } = upload;
  const { records } = copying.to;
  if ((await records.upload(bucket, key, id)) === undefined) {
    await commit(copying, bucket, { mutations: [{ kind: "put upload", record: upload }] });
  }
  const there = new Map((await records.parts(bucket, id)).map((part) => [part.number, part]));
  const arrived: BodyPart[] = [];
  for (const part of parts) {
    const { number, size, checksums } = part;
    const before = there.get(number);
    const isThere = before?.size === size && before.stored === part.blob.size;
    const blob = isThere
      ? { id: before.blob, size: before.stored }
      : await copyPart(copying, bucket, upload, part, reader);
    if (isThere) copying.advance(blob.size);
    arrived.push({ number, size, blob, ...(checksums === undefined ? {} : { checksums }) });
  }
  const { checks, mutations } = putting(record, { home: "parts", parts: arrived }, seen);
  const taken = arrived.map(({ number }) => number);
  await commit(copying, bucket, {
    checks: checks!,
    mutations: [...mutations, { kind: "end parts", uploadId: id, taken }, { kind: "delete upload", key, id }],
  });
}

/** What the parts of an object belong to until all of them are there. */
function carrier(record: ObjectRecord, now: number): UploadRecord {
  const { key, version, httpMetadata, customMetadata, storageClass, encryption } = record;
  return {
    ...{ key, id: version, created: now, state: "active", due: now + limits.uploadLifetime },
    ...{ httpMetadata, customMetadata, storageClass },
    ...(encryption === undefined ? {} : { encryption }),
  };
}

async function copyPart(
  copying: Copying,
  bucket: string,
  { key, id, created }: UploadRecord,
  { number, size, blob }: BodyPart,
  reader: BlobReader,
): Promise<StoredBlob> {
  const staged = await stage(copying, bucket, reader, blob);
  const part = { number, size, etag: "", uploaded: created };
  await naming(copying, bucket, staged, (stored) =>
    puttingPart({ key, id }, { ...part, blob: stored.id, stored: stored.size }),
  );
  return { id: staged.id, size: staged.size };
}

export function puttingPart(upload: { key: string; id: string }, part: PartRecord): Change {
  return {
    checks: [{ kind: "upload", key: upload.key, id: upload.id }],
    mutations: [{ kind: "put part", uploadId: upload.id, part }],
  };
}

function putting(record: ObjectRecord, body: Body, seen: Seen): Change {
  return {
    checks: [{ kind: "object", key: record.key, version: seen }],
    mutations: [{ kind: "put object", record, body }],
  };
}

/** The bytes of a source's blob, staged in the target. What fails in the source is told apart from the rest. */
export async function stage(
  copying: Copying,
  bucket: string,
  reader: BlobReader,
  blob: StoredBlob,
): Promise<StagedBlob> {
  let fault: StoreError | undefined;
  async function* chunks(): AsyncGenerator<Uint8Array> {
    try {
      yield* bytesOf(copying, reader, blob);
    } catch (error) {
      if (error instanceof StoreError) fault = error;
      throw error;
    }
  }
  let staged: StagedBlob;
  try {
    staged = await copying.to.blobs.stage(bucket, chunks());
  } catch (error) {
    throw fault === undefined ? error : new SourceFault(fault);
  }
  if (staged.size === blob.size) return staged;
  await staged.discard();
  const detail = "The stored data is damaged: a body is not as long as its record says.";
  throw new SourceFault(new StoreError("InternalError", { detail }));
}

export async function openingSource<T>(open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    throw error instanceof StoreError ? new SourceFault(error) : error;
  }
}

/** Commits what names a staged blob; unless that happened, its bytes go again. */
export async function naming(
  copying: Copying,
  bucket: string,
  staged: StagedBlob,
  change: (blob: StoredBlob) => Change,
): Promise<void> {
  try {
    await commit(copying, bucket, change({ id: staged.id, size: staged.size }));
    staged.keep();
  } catch (error) {
    await discardAfter(error, staged);
    throw error;
  }
}

export async function commit(copying: Copying, bucket: string, change: Change): Promise<void> {
  if ((await copying.to.records.commit(bucket, change)) === "committed") return;
  throw new CopyError(`Something else writes into the bucket "${bucket}" of the target.`, [
    "End whatever uses the target, then run the same copy again.",
  ]);
}
