// Multipart uploads (spec 3): created, filled part by part, completed into an object or aborted. Each part
// is a blob; completing moves no bytes, it only gives the parts to an object.
import { StoreError } from "../model/errors.ts";
import { checkKey } from "../model/key.ts";
import { limits } from "../model/limits.ts";
import type { ObjectRecord } from "../model/object.ts";
import { ended, isActive, multipartEtag, type PartRecord, type UploadRecord } from "../model/upload.ts";
import { type Context, newId } from "./context.ts";
import { isSameKey, openKey, sealNewKey } from "./encryption.ts";
import type { CompleteOptions, Engine, PartName, PartOptions, Source, UploadName } from "./engine.ts";
import { checkDeclaredLength, takeIn } from "./intake.ts";
import type { StoredUpload } from "./records.ts";
import { committing, existingBucket, takingSource, writtenMetadata } from "./write.ts";

type Uploads = Pick<Engine, "createUpload" | "uploadPart" | "completeUpload" | "abortUpload">;

export function createUploads(context: Context): Uploads {
  const { records } = context;
  return {
    async createUpload(bucket, key, options = {}) {
      checkKey(key);
      const metadata = writtenMetadata(options, await existingBucket(context, bucket));
      const id = newId(context);
      const { customerKey } = options;
      const created = context.now();
      const record: UploadRecord = {
        ...metadata,
        ...(customerKey === undefined ? {} : sealedFor(context, customerKey, bucket, key, id)),
        key,
        id,
        created,
        state: "active",
        due: created + limits.uploadLifetime,
      };
      await records.commit(bucket, { mutations: [{ kind: "put upload", record }] });
      return record;
    },

    async uploadPart(bucket, upload, number, source, options = {}) {
      return takingSource(source, () => uploadPart(context, bucket, upload, { number, source, options }));
    },

    async completeUpload(bucket, upload, parts, options = {}) {
      checkKey(upload.key);
      for (;;) {
        const stored = await activeUpload(context, bucket, upload);
        try {
          const object = await tryComplete(context, bucket, stored, parts, options);
          if (object !== undefined) return object;
        } catch (error) {
          // What was found wrong with the parts only counts when the upload did not change meanwhile.
          const now = await activeUpload(context, bucket, upload);
          if (now.revision === stored.revision) throw error;
        }
      }
    },

    async abortUpload(bucket, { key, id }) {
      checkKey(key);
      for (;;) {
        const stored = await records.upload(bucket, key, id);
        if (stored === undefined) throw new StoreError("NoSuchUpload");
        if (stored.record.state !== "active") return;
        if ((await abort(context, bucket, stored)) === "committed") return;
      }
    },
  };
}

function sealedFor(context: Context, customerKey: Uint8Array, bucket: string, key: string, id: string) {
  return { encryption: sealNewKey(context, customerKey, { bucket, key, scope: id }).encryption };
}

/** Ends an active upload and buries its parts. */
export function abort(context: Context, bucket: string, { record, revision }: StoredUpload) {
  return context.records.commit(bucket, {
    checks: [{ kind: "upload", key: record.key, id: record.id, revision }],
    mutations: [
      { kind: "put upload", record: ended(record, "aborted", context.now()) },
      { kind: "end parts", uploadId: record.id, taken: [] },
    ],
  });
}

/** Every upload of a bucket, in flight or remembered. */
export async function* everyUpload(context: Context, bucket: string): AsyncIterable<UploadRecord> {
  let after: UploadName | undefined;
  for (;;) {
    const page = await context.records.uploads(bucket, { prefix: "", after, limit: 1000 });
    yield* page;
    after = page.at(-1);
    if (after === undefined) return;
  }
}

/** Ends every upload in flight, as when the bucket goes. */
export async function abortAll(context: Context, bucket: string): Promise<void> {
  for await (const { key, id } of everyUpload(context, bucket)) {
    const stored = await context.records.upload(bucket, key, id);
    if (stored?.record.state === "active") await abort(context, bucket, stored);
  }
}

async function activeUpload(
  context: Context,
  bucket: string,
  { key, id }: UploadName,
): Promise<StoredUpload> {
  const stored = await context.records.upload(bucket, key, id);
  if (stored === undefined || !isActive(stored.record, context.now())) throw new StoreError("NoSuchUpload");
  return stored;
}

interface PartWrite {
  readonly number: number;
  readonly source: Source;
  readonly options: PartOptions;
}

async function uploadPart(
  context: Context,
  bucket: string,
  upload: UploadName,
  { number, source, options }: PartWrite,
): Promise<PartRecord> {
  checkKey(upload.key);
  checkDeclaredLength(source);
  const { record } = await activeUpload(context, bucket, upload);
  const dataKey = partKey(record, options.customerKey, bucket);
  const intake = await takeIn(context, source, { bucket, dataKey, part: number, inlineBytes: -1 });
  const { key, id } = upload;
  const { part } = await committing(intake, async () => {
    if (!("blob" in intake.home)) throw new StoreError("InternalError");
    const { blob } = intake.home;
    const written: PartRecord = {
      number,
      size: intake.size,
      etag: intake.etag,
      uploaded: context.now(),
      blob: blob.id,
      stored: blob.size,
    };
    const outcome = await context.records.commit(bucket, {
      checks: [{ kind: "upload", key, id }],
      mutations: [{ kind: "put part", uploadId: id, part: written }],
    });
    if (outcome === "conflict") throw new StoreError("NoSuchUpload");
    return { outcome: "stored", part: written };
  });
  return part;
}

/** The key at every part must be the one the upload was created with, or none when it had none. */
function partKey(
  record: UploadRecord,
  customerKey: Uint8Array | undefined,
  bucket: string,
): Uint8Array | undefined {
  const { encryption } = record;
  if (encryption === undefined && customerKey === undefined) return undefined;
  if (encryption === undefined || customerKey === undefined || !isSameKey(customerKey, encryption)) {
    throw new StoreError("InvalidArgument", {
      detail: "The SSE-C key must be the same for the upload and each of its parts.",
    });
  }
  return openKey(customerKey, encryption, { bucket, key: record.key });
}

async function tryComplete(
  context: Context,
  bucket: string,
  { record: upload, revision }: StoredUpload,
  named: readonly PartName[],
  { partSizes = "uniform" }: CompleteOptions,
): Promise<ObjectRecord | undefined> {
  const parts = chooseParts(await context.records.parts(bucket, upload.id), named);
  checkSizes(parts, partSizes);
  const { key, httpMetadata, customMetadata, storageClass, encryption } = upload;
  const object: ObjectRecord = {
    key,
    version: newId(context),
    size: parts.reduce((sum, part) => sum + part.size, 0),
    etag: multipartEtag(parts.map(({ etag }) => etag)),
    uploaded: context.now(),
    httpMetadata,
    customMetadata,
    checksums: {},
    storageClass,
    ...(encryption === undefined ? {} : { encryption }),
  };
  if (object.size > limits.objectBytes) throw new StoreError("EntityTooLarge");
  const body = parts.map(({ number, size, blob, stored }) => ({
    number,
    size,
    blob: { id: blob, size: stored },
  }));
  const result = { version: object.version, etag: object.etag };
  const outcome = await context.records.commit(bucket, {
    checks: [{ kind: "upload", key, id: upload.id, revision }],
    mutations: [
      { kind: "put object", record: object, body: { home: "parts", parts: body } },
      { kind: "put upload", record: { ...ended(upload, "completed", context.now()), result } },
      { kind: "end parts", uploadId: upload.id, taken: parts.map(({ number }) => number) },
    ],
  });
  return outcome === "committed" ? object : undefined;
}

/** The stored parts the caller named, by number, whatever order they were named in. */
function chooseParts(stored: readonly PartRecord[], named: readonly PartName[]): PartRecord[] {
  if (named.length === 0) throw new StoreError("InvalidPart");
  const byNumber = new Map(stored.map((part) => [part.number, part]));
  const chosen = named.map(({ number, etag }) => {
    const part = byNumber.get(number);
    if (part === undefined || part.etag !== etag) throw new StoreError("InvalidPart");
    return part;
  });
  if (new Set(chosen).size !== chosen.length) throw new StoreError("UnevenParts");
  return chosen.sort((a, b) => a.number - b.number);
}

function checkSizes(parts: readonly PartRecord[], rule: "uniform" | "s3"): void {
  const last = parts.at(-1)!;
  const leading = parts.slice(0, -1);
  if (rule === "s3") {
    if (leading.some(({ size }) => size < limits.s3PartBytes)) throw new StoreError("EntityTooSmall");
    return;
  }
  const size = leading[0]?.size ?? last.size;
  if (leading.some((part) => part.size !== size) || last.size > size) throw new StoreError("UnevenParts");
}
