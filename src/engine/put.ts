// Puts an object: evaluates the condition, receives the body and commits the record.
import type { Bucket } from "../model/bucket.ts";
import { StoreError } from "../model/errors.ts";
import { checkKey, type Key } from "../model/key.ts";
import type { ObjectRecord } from "../model/object.ts";
import { checkDeclaredLength, ingest } from "./bytes/ingest.ts";
import type { IngestedBody } from "./bytes/ingested-body.ts";
import { type Context, newId } from "./context.ts";
import { createBodyKey, needsBodyKey, type SealedFields } from "./encryption/body-key.ts";
import type { PutOptions, PutOutcome, Source } from "./engine.ts";
import { createdEventMutations } from "./event-outbox.ts";
import { earlyCheckBytes } from "./quotas/enforcement.ts";
import type { Body, Check } from "./records.ts";
import { lockedObjectChecks, withVersioning } from "./versions/protection.ts";
import { type Evaluation, evaluateWrite } from "./write-condition.ts";
import { cancelSource, commitOrDiscard, requireBucket, resolveMetadata } from "./write-path.ts";

export async function put(
  context: Context,
  bucket: string,
  key: Key,
  source: Source,
  options: PutOptions,
): Promise<PutOutcome> {
  checkKey(key);
  checkDeclaredLength(source);
  const bucketRecord = await requireBucket(context, bucket);
  const metadata = resolveMetadata(context, options, bucketRecord);
  const isPlain = (metadata.tags ?? metadata.lock ?? metadata.passthrough) === undefined;
  // Evaluate the condition before the body is received, so that a refused put needs no body. The
  // commit checks that the version is unchanged.
  const early =
    options.condition === undefined
      ? undefined
      : await evaluateWrite(context, bucketRecord, key, options.condition);
  if (early?.clause !== undefined) {
    await cancelSource(source, new StoreError("PreconditionFailed", { action: "put" }));
    return { outcome: "refused", clause: early.clause };
  }
  // A body that is in memory or small is received anyway: the commit checks the quotas.
  if (!(source instanceof Uint8Array) && (source.length ?? 0) > earlyCheckBytes)
    await context.quotas.checkLength(bucketRecord, key, source.length!);

  const version = newId(context);
  const creatingKey = needsBodyKey(context, bucketRecord, options)
    ? createBodyKey(context, options, { bucket, key, scope: version })
    : undefined;
  const bodyKey = creatingKey instanceof Promise ? await creatingKey : creatingKey;
  const ingested = await ingest(context, source, {
    bucket,
    dataKey: bodyKey?.dataKey,
    etag: bodyKey?.etag,
    part: 0,
    checksums: options.checksums,
    inlineBytes: context.inlineBytes,
  });
  const { httpMetadata, customMetadata, storageClass } = metadata;
  const { size, etag, checksums } = ingested;
  // Fields are listed because this runs for every put: spreading costs as much as hashing a small
  // body.
  let sealed: SealedFields | undefined;
  const record = (): ObjectRecord => {
    const uploaded = context.now();
    const described: ObjectRecord =
      sealed === undefined
        ? { key, version, size, etag, checksums, uploaded, httpMetadata, customMetadata, storageClass }
        : {
            key,
            version,
            size,
            etag,
            checksums: sealed.checksums ?? checksums,
            uploaded,
            httpMetadata,
            customMetadata,
            storageClass,
            encryption: sealed.encryption,
          };
    return isPlain ? described : withRareFields(described, metadata);
  };
  const committed = commitOrDiscard(ingested, async () => {
    const sealing = bodyKey?.seal(checksums);
    sealed = sealing instanceof Promise ? await sealing : sealing;
    // Rules and versioning may have changed while the body was received, so read the bucket again.
    const current = source instanceof Uint8Array ? bucketRecord : await requireBucket(context, bucket);
    return await commitPut(context, current, { record, body: toBody(ingested) }, options, early);
  });
  if (bodyKey?.etag !== "random") return committed;
  // The record contains sealed checksums, the answer the real ones.
  const outcome = await committed;
  return outcome.outcome === "stored" ? { ...outcome, record: { ...outcome.record, checksums } } : outcome;
}

function withRareFields(
  record: ObjectRecord,
  { tags, lock, passthrough }: Pick<ObjectRecord, "tags" | "lock" | "passthrough">,
): ObjectRecord {
  return {
    ...record,
    ...(tags === undefined ? {} : { tags }),
    ...(lock === undefined ? {} : { lock }),
    ...(passthrough === undefined ? {} : { passthrough }),
  };
}

function toBody({ storage }: IngestedBody): Body {
  if ("inline" in storage) return { storage: "inline", bytes: storage.inline };
  return { storage: "blob", blob: { id: storage.blob.id, size: storage.blob.size } };
}

/** Commits only if the key still has the evaluated version. After a conflict, evaluates again. */
async function commitPut(
  context: Context,
  current: Bucket,
  put: { readonly record: () => ObjectRecord; readonly body: Body },
  options: PutOptions,
  early: Evaluation | undefined,
): Promise<PutOutcome> {
  const { name } = current;
  for (let bucket = current, evaluation = early; ; ) {
    const record = withVersioning(context, bucket, put.record());
    const outcome = await context.quotas.commit(bucket, {
      checks:
        evaluation === undefined && bucket.settings.lockRules === undefined
          ? noChecks
          : await putChecks(context, bucket, record.key, evaluation),
      mutations: [
        { kind: "put object", record, body: put.body },
        ...createdEventMutations(context, bucket, options.event ?? "s3:ObjectCreated:Put", record),
      ],
      protection: bucket.settings,
    });
    if (outcome === "committed") return { outcome: "stored", record };
    bucket = await requireBucket(context, name);
    evaluation = await evaluateWrite(context, bucket, record.key, options.condition);
    if (evaluation?.clause !== undefined) return { outcome: "refused", clause: evaluation.clause };
  }
}

const noChecks: readonly Check[] = [];

/** Returns checks that the evaluated version is still current, and that no lock keeps it. */
async function putChecks(
  context: Context,
  bucket: Bucket,
  key: Key,
  evaluation: Evaluation | undefined,
): Promise<readonly Check[]> {
  const locked = await lockedObjectChecks(context, bucket, key);
  if (evaluation === undefined) return locked;
  return [{ kind: "object", key, version: evaluation.version }, ...locked];
}
