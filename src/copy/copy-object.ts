// Copies the record and stored bytes of an object unchanged, so encrypted objects need no key.
// Parts are copied into an upload named by the object's version, so that a copy can be resumed.
import type { BlobReader, StagedBlob, StoredBlob } from "../engine/blobs.ts";
import type { Body, BodyPart, Change, ObjectWithBody } from "../engine/records.ts";
import { discardAfterFailure } from "../engine/write-path.ts";
import type { Protection } from "../model/bucket.ts";
import { CopyError } from "../model/copy.ts";
import { StoreError } from "../model/errors.ts";
import { limits } from "../model/limits.ts";
import type { ObjectRecord } from "../model/object.ts";
import type { PartRecord, UploadRecord } from "../model/upload.ts";
import { type CopyContext, isDamage, readBlob, SourceFault } from "./context.ts";

/** The key in the target, as the copy was decided for it. */
export interface TargetState {
  /** Version of the current object. Undefined if the key has no object. */
  readonly version: string | undefined;
  readonly protection: Protection;
}

/** Reads the object again after it was replaced in the source while it was being copied. */
export type ReadAgain = () => Promise<ObjectWithBody | undefined>;

export async function copyObject(
  context: CopyContext,
  bucket: string,
  found: ObjectWithBody,
  target: TargetState,
  readAgain: ReadAgain,
): Promise<void> {
  const { key, version } = found.record;
  for (let current: ObjectWithBody | undefined = found; current !== undefined; ) {
    try {
      if (await copyVersion(context, bucket, current, target)) context.counts.copiedObjects++;
      else throw new StoreError("NoSuchKey");
      return;
    } catch (error) {
      if (error instanceof SourceFault && isDamage(error.cause)) {
        return context.reportDamage({ bucket, key }, error.cause);
      }
      const isReplaced = error instanceof StoreError && error.reason === "NoSuchKey";
      if (!isReplaced) throw error instanceof SourceFault ? error.cause : error;
      const before = current.body;
      current = await readAgain();
      if (current?.record.version === version && isSameBody(before, current.body)) throw error;
    }
  }
}

/** Whether the body is still at the same location: compaction may have moved the bytes. */
function isSameBody(before: Body, now: Body): boolean {
  return before.storage !== "blob" || now.storage !== "blob" || before.blob.id === now.blob.id;
}

/** Returns false if the source has a newer version. */
async function copyVersion(
  context: CopyContext,
  bucket: string,
  { record, body }: ObjectWithBody,
  target: TargetState,
): Promise<boolean> {
  if (body.storage === "inline") {
    context.advance(body.bytes.length);
    await commit(context, bucket, putObjectChange(record, body, target));
    return true;
  }
  const blobs = body.storage === "blob" ? [body.blob] : body.parts.map(({ blob }) => blob);
  const isReferenced = async () =>
    (await context.from.records.version(bucket, record.key, record.version)) !== undefined;
  const reader = await openSource(() => context.from.blobs.open(bucket, blobs, isReferenced));
  if (reader === undefined) return false;
  try {
    if (body.storage === "blob") {
      const change = (blob: StoredBlob) => putObjectChange(record, { storage: "blob", blob }, target);
      await commitStaged(context, bucket, await stage(context, bucket, reader, body.blob), change);
    } else {
      await copyParts(context, bucket, { record, parts: body.parts, reader, target });
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
  readonly target: TargetState;
}

async function copyParts(context: CopyContext, bucket: string, copy: PartsCopy): Promise<void> {
  const { record, parts, reader, target } = copy;
  const upload = createTemporaryUpload(record, context.now());
  const { key, id } = upload;
  const { records } = context.to;
  if ((await records.upload(bucket, key, id)) === undefined) {
    await commit(context, bucket, { mutations: [{ kind: "put upload", record: upload }] });
  }
  const existingParts = new Map((await records.parts(bucket, id)).map((part) => [part.number, part]));
  const copiedParts: BodyPart[] = [];
  for (const part of parts) {
    const { number, size, checksums } = part;
    const before = existingParts.get(number);
    const isThere = before?.size === size && before.stored === part.blob.size;
    const blob = isThere
      ? { id: before.blob, size: before.stored }
      : await copyPart(context, bucket, upload, part, reader);
    if (isThere) context.advance(blob.size);
    copiedParts.push({ number, size, blob, ...(checksums === undefined ? {} : { checksums }) });
  }
  const { checks, mutations, protection } = putObjectChange(
    record,
    { storage: "parts", parts: copiedParts },
    target,
  );
  const taken = copiedParts.map(({ number }) => number);
  await commit(context, bucket, {
    checks: checks!,
    protection,
    mutations: [...mutations, { kind: "end parts", uploadId: id, taken }, { kind: "delete upload", key, id }],
  });
}

/** Creates the upload that owns the copied parts until all of them are copied. */
function createTemporaryUpload(record: ObjectRecord, now: number): UploadRecord {
  const { key, version, httpMetadata, customMetadata, storageClass, encryption } = record;
  return {
    ...{ key, id: version, created: now, state: "active", due: now + limits.uploadLifetime },
    ...{ httpMetadata, customMetadata, storageClass },
    ...(encryption === undefined ? {} : { encryption }),
  };
}

async function copyPart(
  context: CopyContext,
  bucket: string,
  { key, id, created }: UploadRecord,
  { number, size, blob }: BodyPart,
  reader: BlobReader,
): Promise<StoredBlob> {
  const staged = await stage(context, bucket, reader, blob);
  const part = { number, size, etag: "", uploaded: created };
  await commitStaged(context, bucket, staged, (stored) =>
    putPartChange({ key, id }, { ...part, blob: stored.id, stored: stored.size }),
  );
  return { id: staged.id, size: staged.size };
}

export function putPartChange(upload: { key: string; id: string }, part: PartRecord): Change {
  return {
    checks: [{ kind: "upload", key: upload.key, id: upload.id }],
    mutations: [{ kind: "put part", uploadId: upload.id, part }],
  };
}

function putObjectChange(record: ObjectRecord, body: Body, { version, protection }: TargetState): Change {
  return {
    checks: [{ kind: "object", key: record.key, version }],
    mutations: [{ kind: "put object", record, body }],
    protection,
  };
}

/** Stages a blob of the source in the target. Errors of the source are thrown as SourceFaults. */
export async function stage(
  context: CopyContext,
  bucket: string,
  reader: BlobReader,
  blob: StoredBlob,
): Promise<StagedBlob> {
  let fault: StoreError | undefined;
  async function* chunks(): AsyncGenerator<Uint8Array> {
    try {
      yield* readBlob(context, reader, blob);
    } catch (error) {
      if (error instanceof StoreError) fault = error;
      throw error;
    }
  }
  let staged: StagedBlob;
  try {
    staged = await context.to.blobs.stage(bucket, chunks());
  } catch (error) {
    throw fault === undefined ? error : new SourceFault(fault);
  }
  if (staged.size === blob.size) return staged;
  await staged.discard();
  const detail = "The stored data is damaged: a body is not as long as its record says.";
  throw new SourceFault(new StoreError("Damaged", { detail }));
}

export async function openSource<T>(open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    throw error instanceof StoreError ? new SourceFault(error) : error;
  }
}

/** Commits a record that references a staged blob. If the commit fails, discards the blob. */
export async function commitStaged(
  context: CopyContext,
  bucket: string,
  staged: StagedBlob,
  change: (blob: StoredBlob) => Change,
): Promise<void> {
  try {
    await commit(context, bucket, change({ id: staged.id, size: staged.size }));
    staged.keep();
  } catch (error) {
    // A CopyError reports a conflict, so the change was definitely not made.
    if (error instanceof CopyError) await staged.discard();
    else await discardAfterFailure(error, staged);
    throw error;
  }
}

export async function commit(context: CopyContext, bucket: string, change: Change): Promise<void> {
  if ((await context.to.records.commit(bucket, change)) === "committed") return;
  throw new CopyError(`Another process is writing to the bucket "${bucket}" of the target.`, [
    "Stop every process that uses the target, then run the same copy again.",
  ]);
}
