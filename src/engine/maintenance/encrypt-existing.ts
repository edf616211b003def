// Encrypts stored objects that are not encrypted, online. Each version keeps its id, etag and times;
// only its body is replaced, in one commit that fails if the version has changed.
import { Buffer } from "node:buffer";
import type { ObjectRecord } from "../../model/object.ts";
import type { ByteRange } from "../../model/range.ts";
import type { StagedBlob, StoredBlob } from "../blobs.ts";
import type { Context } from "../context.ts";
import { createDataKey, currentMasterKey } from "../encryption/data-keys.ts";
import { type DataKey, encrypt, encryptInto, sealedSize } from "../encryption/sealed-blocks.ts";
import type { ApplyOptions, ApplyReport } from "../encryption-operations.ts";
import type { Body } from "../records.ts";
import { discardAfterFailure, requireBucket } from "../write-path.ts";
import { activeUploads, bucketNames, unlessDeleted, walkVersions } from "./encryption-walk.ts";

/** Objects that are read and encrypted at the same time. */
const concurrency = 4;

export async function applyEncryption(context: Context, options: ApplyOptions): Promise<ApplyReport> {
  if (options.bucket !== undefined) await requireBucket(context, options.bucket);
  let examined = 0;
  let encrypted = 0;
  for await (const { bucket, versions } of walkVersions(context, undefined, options.bucket)) {
    const plain = versions.filter(({ encryption }) => encryption === undefined);
    for (let i = 0; i < plain.length; i += concurrency) {
      const done = await Promise.all(
        plain.slice(i, i + concurrency).map((version) => encryptVersion(context, bucket, version)),
      );
      encrypted += done.filter((isDone) => isDone).length;
    }
    examined += versions.length;
    options.onProgress?.({ bucket, examined, changed: encrypted });
    options.signal?.throwIfAborted();
  }
  return { examined, encrypted, openUploads: await countPlainUploads(context, options.bucket) };
}

async function countPlainUploads(context: Context, only: string | undefined): Promise<number> {
  let count = 0;
  for (const bucket of only === undefined ? await bucketNames(context) : [only]) {
    const uploads = await activeUploads(context, bucket);
    count += uploads.filter(({ encryption }) => encryption === undefined).length;
  }
  return count;
}

/** Returns false if the version was deleted or encrypted meanwhile. */
async function encryptVersion(context: Context, bucket: string, version: ObjectRecord): Promise<boolean> {
  let current: ObjectRecord | undefined = version;
  while (current !== undefined && current.encryption === undefined) {
    const record: ObjectRecord = current;
    const outcome = await unlessDeleted(context, bucket, () => tryEncrypt(context, bucket, record));
    if (outcome === "committed") return true;
    // The record has changed, the version was deleted, or compaction moved its bytes.
    const found = await unlessDeleted(context, bucket, () =>
      context.records.version(bucket, record.key, record.version),
    );
    current = found?.body === undefined ? undefined : (found.version as ObjectRecord);
  }
  return false;
}

async function tryEncrypt(
  context: Context,
  bucket: string,
  version: ObjectRecord,
): Promise<"committed" | "conflict"> {
  const { key } = version;
  const stored = await context.records.version(bucket, key, version.version);
  if (stored?.body === undefined) return "conflict";
  const { dataKey, seal } = createDataKey(context, { bucket, key, scope: version.version });
  const replaced = await encryptBody(context, bucket, version, stored.body, dataKey);
  if (replaced === undefined) return "conflict";
  const { body, staged } = replaced;
  try {
    const encryption = seal(await currentMasterKey(context));
    const { settings } = await requireBucket(context, bucket);
    const outcome = await context.records.commit(bucket, {
      checks: [{ kind: "version", version }],
      mutations: [{ kind: "replace body", record: { ...version, encryption }, body }],
      protection: settings,
    });
    for (const blob of staged) {
      if (outcome === "committed") blob.keep();
      else await blob.discard();
    }
    return outcome;
  } catch (error) {
    for (const blob of staged) await discardAfterFailure(error, blob);
    throw error;
  }
}

interface ReplacedBody {
  readonly body: Body;
  readonly staged: readonly StagedBlob[];
}

/** Returns undefined if the body was removed or moved while it was opened. */
async function encryptBody(
  context: Context,
  bucket: string,
  version: ObjectRecord,
  body: Body,
  dataKey: DataKey,
): Promise<ReplacedBody | undefined> {
  if (body.storage === "inline") {
    const bytes = Buffer.allocUnsafeSlow(sealedSize(body.bytes.length, context.blockBytes));
    encryptInto(bytes, context, dataKey, 0, body.bytes);
    return { body: { storage: "inline", bytes }, staged: [] };
  }
  const parts = body.storage === "blob" ? [{ number: 0, size: version.size, blob: body.blob }] : body.parts;
  const { key, version: id } = version;
  const isReferenced = async () => (await context.records.version(bucket, key, id)) !== undefined;
  const reader = await context.blobs.open(
    bucket,
    parts.map(({ blob }) => blob),
    isReferenced,
  );
  if (reader === undefined) return undefined;
  const staged: StagedBlob[] = [];
  try {
    for (const { number, blob } of parts) {
      const range: ByteRange = { offset: 0, length: blob.size };
      const sealed = encrypt(context, dataKey, number, reader.read(blob, range));
      staged.push(await context.blobs.stage(bucket, sealed));
    }
  } catch (error) {
    for (const blob of staged) await blob.discard();
    throw error;
  } finally {
    await reader.close();
  }
  const blobs = staged.map(({ id: name, size }): StoredBlob => ({ id: name, size }));
  if (body.storage === "blob") return { body: { storage: "blob", blob: blobs[0]! }, staged };
  const replaced = body.parts.map((part, i) => ({ ...part, blob: blobs[i]! }));
  return { body: { storage: "parts", parts: replaced }, staged };
}
