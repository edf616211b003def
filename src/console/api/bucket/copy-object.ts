// Copies one object within the store, and for a move deletes the source only if it is still the one
// that was copied.
import type { Engine, WriteOptions } from "../../../engine/engine.ts";
import type { Bucket } from "../../../model/bucket.ts";
import type { Condition } from "../../../model/condition.ts";
import { limits } from "../../../model/limits.ts";
import { describeLock, findLock } from "../../../model/lock.ts";
import type { ObjectRecord } from "../../../model/object.ts";
import { ConsoleError } from "../../response.ts";
import { toByteStream } from "../content.ts";
import { expectedChecksums } from "../object.ts";

export interface CopyOptions {
  readonly source: Bucket;
  /** Name of the bucket to copy to. */
  readonly target: string;
  readonly isMove: boolean;
  /** Whether an existing object is replaced. */
  readonly isReplaced: boolean;
  readonly now: number;
}

export interface CopyNames {
  readonly from: string;
  readonly to: string;
}

/** Parts of a copy of an object that is too large for one put. */
const partBytes = 1024 * 1024 * 1024;

/** Returns the number of copied bytes. Throws a ConsoleError or StoreError that says why not. */
export async function copyOne(engine: Engine, names: CopyNames, options: CopyOptions): Promise<number> {
  const { source, target, isMove, isReplaced } = options;
  const { from, to } = names;
  if (from === to && source.name === target)
    throw new ConsoleError(400, "The object already has this name: choose another.");
  const record = await engine.head(source.name, from);
  if (record === undefined) throw new ConsoleError(404, "The object no longer exists.");
  if (record.encryption?.keyMd5 !== undefined)
    throw new ConsoleError(409, "It is encrypted with a customer-provided key: copy it with an S3 client.");
  if (isMove) refuseLocked(record, options);
  const condition: Condition | undefined = isReplaced ? undefined : { etagDoesNotMatch: "*" };
  if (record.size > limits.singleWriteBytes)
    await copyInParts(engine, record, names, { ...options, condition });
  else await copyInOnePut(engine, record, names, { ...options, condition });
  if (isMove) {
    const etagMatches = [{ value: record.etag, weak: false }];
    await engine.delete(source.name, [from], { condition: { etagMatches } });
  }
  return record.size;
}

/** Checked before the copy, so that a move that cannot be finished changes nothing. */
function refuseLocked(record: ObjectRecord, { source, now }: CopyOptions): void {
  // In a versioned bucket a delete marker hides the source, and its version stays.
  if (source.settings.versioning === "on") return;
  const lock = findLock(record, source.settings.lockRules, now);
  if (lock !== undefined) throw new ConsoleError(409, describeLock(lock));
}

type Conditional = CopyOptions & { readonly condition: Condition | undefined };

async function copyInOnePut(
  engine: Engine,
  record: ObjectRecord,
  { from, to }: CopyNames,
  options: Conditional,
) {
  const { source, target, condition } = options;
  const etagMatches = [{ value: record.etag, weak: false }];
  const found = await engine.get(source.name, from, { condition: { etagMatches } });
  if (found.outcome !== "found") throw changedError();
  const outcome = await engine.put(target, to, found.bytes.inline ?? toByteStream(found.bytes), {
    ...writeOptions(record),
    ...{ event: "s3:ObjectCreated:Copy", condition, checksums: expectedChecksums(record) },
  });
  if (outcome.outcome === "refused") throw existsError();
}

async function copyInParts(
  engine: Engine,
  record: ObjectRecord,
  { from, to }: CopyNames,
  options: Conditional,
) {
  const { source, target, condition } = options;
  const { id } = await engine.createUpload(target, to, writeOptions(record));
  const upload = { key: to, id };
  try {
    const parts: { number: number; etag: string }[] = [];
    for (let offset = 0; offset < record.size; offset += partBytes) {
      const found = await engine.get(source.name, from, {
        range: { offset, length: Math.min(partBytes, record.size - offset) },
        condition: { etagMatches: [{ value: record.etag, weak: false }] },
      });
      if (found.outcome !== "found") throw changedError();
      const number = parts.length + 1;
      const part = await engine.uploadPart(target, upload, number, toByteStream(found.bytes));
      parts.push({ number, etag: part.etag });
    }
    await engine.completeUpload(target, upload, parts, { partSizes: "s3", condition });
  } catch (error) {
    await engine.abortUpload(target, upload);
    throw error;
  }
}

/** Locks are not copied: the target gets the default retention of its bucket. */
function writeOptions({
  httpMetadata,
  customMetadata,
  storageClass,
  tags,
  encryption,
  passthrough,
}: ObjectRecord): WriteOptions {
  const shared = { httpMetadata, customMetadata, storageClass, tags, passthrough };
  return encryption === undefined ? shared : { ...shared, encryption: "store" };
}

function changedError(): ConsoleError {
  return new ConsoleError(412, "The object was changed meanwhile; it was not copied.");
}

function existsError(): ConsoleError {
  return new ConsoleError(412, "An object with the new name already exists; it was not replaced.");
}
