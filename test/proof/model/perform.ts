// Performs an operation on one side and returns the complete outcome: objects with all properties,
// bytes by digest, errors by name, code and message.
import { createHash } from "node:crypto";
import type { StoreBucket, StoreObject, StoreObjectBody, StoreValue } from "../../../src/index.ts";
import { hex } from "../../../src/model/checksums/checksum.ts";
import type { PartRecord } from "../../../src/model/upload.ts";
import { bytesOf, digestOf, streamOf } from "../../support/bodies.ts";
import { collect } from "../../support/bytes.ts";
import {
  type Answer,
  type Body,
  bucketName,
  customerKeys,
  type Operation,
  type ReadOptions,
  type WriteOptions,
} from "./operation.ts";
import { bodyValue, callS3 } from "./s3.ts";
import type { Side } from "./side.ts";
import { customerKeyOf, performVersions, toTags, versionSnapshot } from "./versions/perform.ts";

export async function perform(side: Side, operation: Operation): Promise<Answer> {
  try {
    return JSON.stringify((await outcome(side, operation)) ?? null);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const { name, message } = error;
    return JSON.stringify({ error: name, message, code: "code" in error ? error.code : undefined });
  }
}

async function outcome(side: Side, operation: Operation): Promise<unknown> {
  const { bucket } = side;
  switch (operation.do) {
    case "head":
      return told(await bucket.head(operation.key));
    case "get":
      return got(bucket, operation);
    case "put":
      return told(
        await bucket.put(operation.key, scriptValue(operation.body), scriptOptions(operation.options)),
      );
    case "delete":
      return bucket.delete(operation.keys as string | string[]);
    case "list": {
      const { objects, ...page } = await bucket.list(operation.options as object);
      return { ...page, objects: objects.map(told) };
    }
    case "create upload": {
      if (operation.extras !== undefined) return createUpload(side, operation);
      const { key, uploadId } = await bucket.createMultipartUpload(
        operation.key,
        scriptOptions(operation.options),
      );
      return { key, uploadId };
    }
    case "upload part": {
      const { upload, number, body, ssecKey } = operation;
      return resumed(bucket, upload).uploadPart(number, scriptValue(body) as string, { ssecKey });
    }
    case "complete":
      return told(await resumed(bucket, operation.upload).complete([...operation.parts]));
    case "abort":
      return resumed(bucket, operation.upload).abort();
    case "sweep": {
      // Omit blobsRemoved: blobs are also removed in the background, so it depends on timing.
      const { blobsRemoved: _, ...report } = await side.engine.sweep();
      return report;
    }
    case "snapshot":
      return snapshot(side);
    case "s3":
      return callS3(side.s3, operation);
    default:
      return performVersions(side.engine, operation);
  }
}

/** Creates an upload with tags and a lock. */
async function createUpload(
  { engine }: Side,
  { key, options, extras }: Extract<Operation, { do: "create upload" }>,
): Promise<unknown> {
  const { id } = await engine.createUpload(bucketName, key, {
    tags: toTags(extras!.tags),
    lock: extras!.lock ?? undefined,
    customerKey: customerKeyOf(options.ssecKey),
  });
  return { key, uploadId: id };
}

function resumed(bucket: StoreBucket, { key, id }: { readonly key: string; readonly id: string }) {
  return bucket.resumeMultipartUpload(key, id);
}

function told(object: StoreObject | null): unknown {
  return object === null ? null : { is: object.constructor.name, ...object };
}

type Get = Extract<Operation, { do: "get" }>;

async function got(bucket: StoreBucket, { key, options, by }: Get): Promise<unknown> {
  const object = await bucket.get(key, scriptOptions(options));
  if (object === null || !("body" in object)) return told(object);
  const bytes = by === "stream" ? await collect((object as StoreObjectBody).body) : await object.bytes();
  return { object: told(object), size: bytes.length, digest: digestOf(bytes) };
}

function scriptOptions({ onlyIfHeaders, ...options }: WriteOptions & ReadOptions): object {
  const { rangeHeader, ...rest } = options;
  return {
    ...rest,
    ...(onlyIfHeaders === undefined ? {} : { onlyIf: new Headers(onlyIfHeaders) }),
    ...(rangeHeader === undefined ? {} : { range: new Headers({ range: rangeHeader }) }),
  };
}

function scriptValue(body: Body): StoreValue {
  const bytes = bytesOf("", bodyValue(body));
  switch (body.as) {
    case "bytes":
      return bytes;
    case "string":
      return bytes.toString("latin1");
    case "blob":
      return new Blob([bytes]);
    case "stream":
      return streamOf(bytes, { chunk: 37 });
    case "broken":
      return streamOf(bytes, {
        chunk: 37,
        before(offset) {
          if (offset * 2 >= bytes.length) throw new TypeError("The stream broke off.");
        },
      });
  }
}

/** Returns all objects with their bytes, all uploads with their parts, and the totals. */
async function snapshot({ engine, bucket }: Side): Promise<unknown> {
  const objects: unknown[] = [];
  let cursor: string | undefined;
  do {
    const page = await bucket.list({ cursor, include: ["httpMetadata", "customMetadata"] });
    for (const object of page.objects) objects.push(await whole(bucket, object));
    cursor = page.truncated ? page.cursor : undefined;
  } while (cursor !== undefined);
  const uploads: unknown[] = [];
  for (const { key, id, created, due } of (await engine.listUploads(bucketName)).uploads) {
    const { parts } = await engine.listParts(bucketName, { key, id });
    uploads.push({ key, id, created, due, parts: parts.map(partShown) });
  }
  const totals = await engine.totals(bucketName);
  return { totals, objects, uploads, history: await versionSnapshot(engine) };
}

function partShown({ blob: _, checksums = {}, ...part }: PartRecord): unknown {
  const texts = Object.entries(checksums).map(([name, value]) => [name, hex(value)]);
  return { ...part, checksums: Object.fromEntries(texts) };
}

const md5OfKey = new Map(
  customerKeys.map((key) => [key, createHash("md5").update(Buffer.from(key, "hex")).digest("hex")]),
);

async function whole(bucket: StoreBucket, listed: StoreObject): Promise<unknown> {
  const ssecKey = customerKeys.find((key) => md5OfKey.get(key) === listed.ssecKeyMd5);
  const object = (await bucket.get(listed.key, { ssecKey })) as StoreObjectBody;
  return { ...(told(object) as object), digest: digestOf(await object.bytes()) };
}
