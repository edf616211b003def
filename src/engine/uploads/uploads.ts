// Multipart uploads (spec 3): created, filled part by part, then completed into an object or
// aborted. Each part is a blob. Completing moves no bytes; it only assigns the parts to an object.
import { checksumNames, type ExpectedChecksum, type UploadChecksum } from "../../model/checksums/checksum.ts";
import { StoreError } from "../../model/errors.ts";
import { checkKey } from "../../model/key.ts";
import { limits } from "../../model/limits.ts";
import type { Checksums } from "../../model/object.ts";
import { endUpload, type PartRecord, type UploadedPart, type UploadRecord } from "../../model/upload.ts";
import { checkDeclaredLength, ingest } from "../bytes/ingest.ts";
import { type Context, newUploadId } from "../context.ts";
import { createBodyKey, needsBodyKey } from "../encryption/body-key.ts";
import { isSameKey, openKey } from "../encryption/customer-keys.ts";
import { openDataKey } from "../encryption/data-keys.ts";
import type { DataKey } from "../encryption/sealed-blocks.ts";
import type { Engine, Source } from "../engine.ts";
import { earlyCheckBytes } from "../quotas/enforcement.ts";
import type { StoredUpload } from "../records.ts";
import { cancelSourceOnFailure, commitOrDiscard, requireBucket, resolveMetadata } from "../write-path.ts";
import { activeUpload, checkInitiator, complete } from "./complete.ts";
import { everyUpload, listParts, listUploads } from "./listing.ts";
import type { OpenUploads } from "./open-uploads.ts";
import type { PartOptions, UploadName } from "./upload-operations.ts";

type Uploads = Pick<
  Engine,
  | ("createUpload" | "uploadPart" | "completeUpload" | "completedUpload" | "abortUpload")
  | ("listUploads" | "listParts")
>;

export function createUploads(context: Context, openUploads: OpenUploads): Uploads {
  const { records } = context;
  return {
    async createUpload(bucket, key, options = {}) {
      checkKey(key);
      const bucketRecord = await requireBucket(context, bucket);
      const metadata = resolveMetadata(context, options, bucketRecord);
      await openUploads.admit(bucket);
      const created = context.now();
      const id = newUploadId(context, created);
      const bodyKey = needsBodyKey(context, bucketRecord, options)
        ? await createBodyKey(context, options, { bucket, key, scope: id })
        : undefined;
      const record: UploadRecord = {
        ...metadata,
        ...(await bodyKey?.seal()),
        key,
        id,
        created,
        state: "active",
        due: created + limits.uploadLifetime,
        ...(options.checksum === undefined ? {} : { checksum: options.checksum }),
        ...(options.initiator === undefined ? {} : { initiator: options.initiator }),
      };
      await records.commit(bucket, { mutations: [{ kind: "put upload", record }] });
      return record;
    },

    async uploadPart(bucket, upload, number, source, options = {}) {
      return cancelSourceOnFailure(source, () =>
        uploadPart(context, bucket, upload, { number, source, options }),
      );
    },

    completeUpload: (bucket, upload, parts, options = {}) =>
      complete(context, bucket, upload, parts, options),

    async completedUpload(bucket, { key, id }) {
      return (await records.upload(bucket, key, id))?.record.result;
    },

    async abortUpload(bucket, { key, id }, options = {}) {
      checkKey(key);
      for (;;) {
        const stored = await records.upload(bucket, key, id);
        if (stored === undefined) throw new StoreError("NoSuchUpload");
        checkInitiator(stored.record, options);
        if (stored.record.state !== "active") return;
        if ((await abort(context, bucket, stored)) === "committed") return;
      }
    },

    listUploads: (bucket, options = {}) => listUploads(context, bucket, options),
    listParts: (bucket, upload, options = {}) => listParts(context, bucket, upload, options),
  };
}

/** Ends an active upload; its parts become garbage. */
export function abort(context: Context, bucket: string, { record, revision }: StoredUpload) {
  return context.records.commit(bucket, {
    checks: [{ kind: "upload", key: record.key, id: record.id, revision }],
    mutations: [
      { kind: "put upload", record: endUpload(record, "aborted", context.now()) },
      { kind: "end parts", uploadId: record.id, taken: [] },
    ],
  });
}

/** Aborts every active upload before its bucket is deleted. */
export async function abortAll(context: Context, bucket: string): Promise<void> {
  for await (const { key, id } of everyUpload(context, bucket)) {
    const stored = await context.records.upload(bucket, key, id);
    if (stored?.record.state === "active") await abort(context, bucket, stored);
  }
}

async function uploadPart(
  context: Context,
  bucket: string,
  upload: UploadName,
  { number, source, options }: { number: number; source: Source; options: PartOptions },
): Promise<UploadedPart> {
  checkKey(upload.key);
  checkDeclaredLength(source);
  const { record } = await activeUpload(context, bucket, upload, options);
  const { length = 0 } = source;
  if (!(source instanceof Uint8Array) && length > earlyCheckBytes)
    await context.quotas.checkLength(await requireBucket(context, bucket), upload.key, length);
  const dataKey = await partKey(context, record, options.customerKey, bucket);
  const checksums = partChecksums(record, options.checksums ?? []);
  const ingested = await ingest(context, source, {
    bucket,
    dataKey,
    etag: record.encryption?.keyMd5 === undefined ? "md5" : "random",
    part: number,
    checksums,
    inlineBytes: -1,
  });
  const { key, id } = upload;
  const { part } = await commitOrDiscard(ingested, async () => {
    if (!("blob" in ingested.storage)) throw new StoreError("InternalError");
    const { blob } = ingested.storage;
    const written: PartRecord = {
      number,
      size: ingested.size,
      etag: ingested.etag,
      uploaded: context.now(),
      blob: blob.id,
      stored: blob.size,
      ...(record.checksum === undefined
        ? {}
        : { checksums: pickChecksum(ingested.checksums, record.checksum) }),
    };
    const outcome = await context.records.commit(bucket, {
      checks: [{ kind: "upload", key, id }],
      mutations: [{ kind: "put part", uploadId: id, part: written }],
    });
    if (outcome === "conflict") throw new StoreError("NoSuchUpload");
    return { outcome: "stored", part: written };
  });
  return record.encryption?.masterKey === undefined ? part : { ...part, isStoreEncrypted: true };
}

/** Returns the checksums that the sender declared, and the checksum that the upload requires. */
function partChecksums(
  { checksum }: UploadRecord,
  expected: readonly ExpectedChecksum[],
): ExpectedChecksum[] {
  const other = expected.find(({ algorithm }) => algorithm !== "md5" && algorithm !== checksum?.algorithm);
  if (checksum !== undefined && other !== undefined) {
    throw new StoreError("InvalidArgument", {
      detail:
        `The upload was created with ${checksumNames[checksum.algorithm]}, ` +
        `but this part comes with ${checksumNames[other.algorithm]}.`,
    });
  }
  return checksum === undefined ? [...expected] : [...expected, { algorithm: checksum.algorithm }];
}

function pickChecksum(checksums: Checksums, { algorithm }: UploadChecksum): Checksums {
  return { [algorithm]: checksums[algorithm] };
}

/** Returns the data key. Every part must use the upload's key, or none if the upload has none. */
async function partKey(
  context: Context,
  record: UploadRecord,
  customerKey: Uint8Array | undefined,
  bucket: string,
): Promise<DataKey | undefined> {
  const { encryption, key } = record;
  if (customerKey === undefined) {
    if (encryption === undefined) return undefined;
    if (encryption.masterKey !== undefined) return openDataKey(context, encryption, { bucket, key });
  }
  if (encryption === undefined || customerKey === undefined || !isSameKey(customerKey, encryption)) {
    throw new StoreError("InvalidArgument", {
      detail: "The SSE-C key must be the same for the upload and each of its parts.",
    });
  }
  return openKey(customerKey, encryption, { bucket, key });
}
