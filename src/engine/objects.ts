// Operations on objects over the two ports: head, describe, get, put, delete and list. The rules
// they apply are in model/.
import type { Bucket } from "../model/bucket.ts";
import {
  type Clause,
  type Condition,
  findFailedClause,
  findFailedClauseWhenMissing,
} from "../model/condition.ts";
import { StoreError } from "../model/errors.ts";
import { checkKey, type Key } from "../model/key.ts";
import { limits } from "../model/limits.ts";
import { decodeCursor, encodeCursor, laterPosition } from "../model/listing.ts";
import type { ObjectRecord } from "../model/object.ts";
import { partRange, resolveRange } from "../model/range.ts";
import { openBody } from "./bytes/body-reader.ts";
import { dataKeyFor, sealNewKey } from "./bytes/encryption.ts";
import { checkDeclaredLength, ingest } from "./bytes/ingest.ts";
import type { IngestedBody } from "./bytes/ingested-body.ts";
import { sealChecksums, withOpenedChecksums } from "./bytes/sealed-checksums.ts";
import { type Context, newId } from "./context.ts";
import type {
  DescribeOptions,
  DescribeOutcome,
  Engine,
  GetOptions,
  GetOutcome,
  ListOptions,
  PutOptions,
  PutOutcome,
  Source,
} from "./engine.ts";
import { createdEventMutations, deleteMutations } from "./event-outbox.ts";
import type { Body, Check, ObjectWithBody } from "./records.ts";
import {
  cancelSource,
  cancelSourceOnFailure,
  commitOrDiscard,
  requireBucket,
  resolveMetadata,
} from "./write-path.ts";

type Objects = Pick<Engine, "head" | "describe" | "get" | "put" | "delete" | "list">;

export function createObjects(context: Context): Objects {
  const { records } = context;
  return {
    async head(bucket, key) {
      checkKey(key);
      return records.object(bucket, key);
    },
    async describe(bucket, key, options = {}) {
      checkKey(key);
      const found = await records.objectWithBody(bucket, key);
      return found === undefined ? { outcome: "missing" } : toDescribeOutcome(bucket, found, options).outcome;
    },
    async get(bucket, key, options = {}) {
      checkKey(key);
      return get(context, bucket, key, options);
    },
    async put(bucket, key, source, options = {}) {
      return cancelSourceOnFailure(source, () => put(context, bucket, key, source, options));
    },
    async delete(bucket, keys, { condition } = {}) {
      if (keys.length > limits.deleteKeys) throw new StoreError("TooManyKeys");
      for (const key of keys) checkKey(key);
      const bucketRecord = await requireBucket(context, bucket);
      if (keys.length === 0) return;
      const mutations = keys.flatMap((key) =>
        deleteMutations(context, bucketRecord, "s3:ObjectRemoved:Delete", key),
      );
      for (;;) {
        const checks = condition === undefined ? [] : await conditionChecks(context, bucket, keys, condition);
        if ((await records.commit(bucket, { checks, mutations })) === "committed") return;
      }
    },
    async list(bucket, options = {}) {
      return list(context, bucket, options);
    },
  };
}

/** Evaluates the condition. Returns checks that fail the commit if a version has changed. */
async function conditionChecks(context: Context, bucket: string, keys: readonly Key[], condition: Condition) {
  const checks: Check[] = [];
  for (const key of keys) {
    const record = await context.records.object(bucket, key);
    checkDeleteCondition(condition, record);
    checks.push({ kind: "object", key, version: record?.version });
  }
  return checks;
}

/** A missing object can be deleted, unless the condition names its etag: then the caller expects one. */
function checkDeleteCondition(condition: Condition, record: ObjectRecord | undefined): void {
  if (record !== undefined) {
    if (findFailedClause(condition, record) !== undefined) throw new StoreError("PreconditionFailed");
  } else if (condition.etagMatches !== undefined) {
    throw new StoreError(condition.etagMatches === "*" ? "PreconditionFailed" : "NoSuchKey");
  }
}

async function get(context: Context, bucket: string, key: Key, options: GetOptions): Promise<GetOutcome> {
  for (;;) {
    const found = await context.records.objectWithBody(bucket, key);
    if (found === undefined) return { outcome: "missing" };
    const outcome = await toGetOutcome(context, bucket, found, options);
    if (outcome !== undefined) return outcome;
    // The body was removed while it was being opened, so the object has a new version: read again.
  }
}

async function toGetOutcome(
  context: Context,
  bucket: string,
  { record, body }: ObjectWithBody,
  options: GetOptions,
): Promise<GetOutcome | undefined> {
  const { outcome, dataKey } = toDescribeOutcome(bucket, { record, body }, options);
  if (outcome.outcome !== "found") return outcome;
  const { record: opened, parts } = outcome;
  const range =
    options.part === undefined
      ? resolveRange(options.range, record.size)
      : partRange(parts, options.part, record.size);
  const { key, version } = record;
  const isReferenced = async () => (await context.records.object(bucket, key))?.version === version;
  const currentBody = async () => {
    const now = await context.records.objectWithBody(bucket, key);
    return now?.record.version === version ? now.body : undefined;
  };
  const request = { bucket, size: record.size, range, dataKey, isReferenced, currentBody };
  const bytes = await openBody(context, body, request);
  if (bytes === undefined) return undefined;
  // Fields are listed: spreading takes a fifth of a small read.
  return { outcome: "found", record: opened, range, bytes, parts };
}

/** Checks the condition of a read, then the customer's key. Also returns the data key. */
function toDescribeOutcome(
  bucket: string,
  { record, body }: ObjectWithBody,
  { condition, customerKey }: DescribeOptions,
): { readonly outcome: DescribeOutcome; readonly dataKey?: Uint8Array | undefined } {
  const clause = condition === undefined ? undefined : findFailedClause(condition, record);
  if (clause !== undefined) return { outcome: { outcome: "refused", record, clause } };
  const dataKey = dataKeyFor(customerKey, record.encryption, { bucket, key: record.key });
  const parts = body.storage === "parts" ? body.parts : undefined;
  return { outcome: { outcome: "found", record: withOpenedChecksums(record, dataKey), parts }, dataKey };
}

async function put(
  context: Context,
  bucket: string,
  key: Key,
  source: Source,
  options: PutOptions,
): Promise<PutOutcome> {
  checkKey(key);
  checkDeclaredLength(source);
  const bucketRecord = await requireBucket(context, bucket);
  const metadata = resolveMetadata(options, bucketRecord);
  // Evaluate the condition before the body is received, so that a refused put needs no body. The
  // commit checks that the version is unchanged.
  const early = options.condition === undefined ? undefined : await evaluate(context, bucket, key, options);
  if (early?.clause !== undefined) {
    await cancelSource(source, new StoreError("PreconditionFailed", { action: "put" }));
    return { outcome: "refused", clause: early.clause };
  }

  const version = newId(context);
  const sealed =
    options.customerKey === undefined
      ? undefined
      : sealNewKey(context, options.customerKey, { bucket, key, scope: version });
  const ingested = await ingest(context, source, {
    bucket,
    dataKey: sealed?.dataKey,
    part: 0,
    checksums: options.checksums,
    inlineBytes: context.inlineBytes,
  });
  // Notification rules may have changed while the body was received, so read the bucket again.
  const currentBucket = async () =>
    source instanceof Uint8Array ? bucketRecord : requireBucket(context, bucket);
  const { httpMetadata, customMetadata, storageClass } = metadata;
  const { size, etag, checksums } = ingested;
  // Fields are listed because this runs for every put: spreading costs as much as hashing a small
  // body.
  const record = (): ObjectRecord => {
    const uploaded = context.now();
    const plain = {
      key,
      version,
      size,
      etag,
      checksums,
      uploaded,
      httpMetadata,
      customMetadata,
      storageClass,
    };
    if (sealed === undefined) return plain;
    const sealedChecksums = sealChecksums(context, sealed.dataKey, checksums);
    return { ...plain, checksums: {}, encryption: { ...sealed.encryption, sealedChecksums } };
  };
  const committed = commitOrDiscard(ingested, () =>
    commitPut(context, bucket, { record, body: toBody(ingested), currentBucket }, options, early),
  );
  if (sealed === undefined) return committed;
  const outcome = await committed;
  return outcome.outcome === "stored" ? { ...outcome, record: { ...outcome.record, checksums } } : outcome;
}

function toBody({ storage }: IngestedBody): Body {
  if ("inline" in storage) return { storage: "inline", bytes: storage.inline };
  return { storage: "blob", blob: { id: storage.blob.id, size: storage.blob.size } };
}

/** Commits only if the key still has the evaluated version. After a conflict, evaluates again. */
async function commitPut(
  context: Context,
  bucket: string,
  put: {
    readonly record: () => ObjectRecord;
    readonly body: Body;
    readonly currentBucket: () => Promise<Bucket>;
  },
  options: PutOptions,
  early: Evaluation | undefined,
): Promise<PutOutcome> {
  for (let evaluation = early; ; ) {
    const record = put.record();
    const checks =
      evaluation === undefined
        ? []
        : [{ kind: "object", key: record.key, version: evaluation.version } as const];
    const outcome = await context.records.commit(bucket, {
      checks,
      mutations: [
        { kind: "put object", record, body: put.body },
        ...createdEventMutations(
          context,
          await put.currentBucket(),
          options.event ?? "s3:ObjectCreated:Put",
          record,
        ),
      ],
    });
    if (outcome === "committed") return { outcome: "stored", record };
    evaluation = await evaluate(context, bucket, record.key, options);
    if (evaluation?.clause !== undefined) return { outcome: "refused", clause: evaluation.clause };
  }
}

interface Evaluation {
  readonly version: string | undefined;
  readonly clause: Clause | undefined;
}

/** Returns the current version and any failed clause; undefined without a condition. */
async function evaluate(
  context: Context,
  bucket: string,
  key: Key,
  { condition }: PutOptions,
): Promise<Evaluation | undefined> {
  if (condition === undefined) return undefined;
  const current = await context.records.object(bucket, key);
  if (current === undefined) return { version: undefined, clause: findFailedClauseWhenMissing(condition) };
  return { version: current.version, clause: findFailedClause(condition, current) };
}

async function list(context: Context, bucket: string, options: ListOptions) {
  const { limit = limits.listEntries, prefix = "", delimiter = "", startAfter, cursor, after } = options;
  if (Number.isNaN(limit) || limit < 0) throw new StoreError("InvalidMaxKeys");
  const page = await context.records.objects(bucket, {
    prefix,
    delimiter,
    after: laterPosition(
      laterPosition(cursor === undefined ? undefined : decodeCursor(cursor), after),
      startAfter === undefined ? undefined : { kind: "key", value: startAfter },
    ),
    limit: Math.min(Math.floor(limit), limits.listEntries),
    metadataBytes: options.withMetadata === true ? limits.listMetadataBytes : Number.POSITIVE_INFINITY,
  });
  const objects: ObjectRecord[] = [];
  const prefixes: string[] = [];
  for (const entry of page.entries) {
    if ("record" in entry) objects.push(entry.record);
    else prefixes.push(entry.prefix);
  }
  const { next } = page;
  return { objects, prefixes, next, cursor: next === undefined ? undefined : encodeCursor(next) };
}
