// Verification: reads every record and every stored byte once, past the first damage, to the end.
import { createHash } from "node:crypto";
import { StoreError } from "../model/errors.ts";
import type { StoredBlob } from "./blobs.ts";
import type { Context } from "./context.ts";
import type { Damage, VerifyOptions, VerifyReport } from "./engine.ts";
import type { Inspected, ObjectWithBody } from "./records.ts";
import { everyUpload } from "./uploads.ts";

export async function verify(context: Context, { onProgress }: VerifyOptions = {}): Promise<VerifyReport> {
  const damages: Damage[] = [];
  let objects = 0;
  let bytes = 0;
  const buckets = await context.records.buckets();
  for (const { name: bucket } of buckets) {
    for await (const { key, found } of context.records.inspect(bucket)) {
      const { stored, what } = await verifyObject(context, bucket, { key, found });
      if (what !== undefined) damages.push({ bucket, key, what });
      objects++;
      bytes += stored;
      onProgress?.({ objects, bytes });
    }
    for await (const { stored, key, what } of verifyParts(context, bucket)) {
      if (what !== undefined) damages.push({ bucket, key, what });
      bytes += stored;
    }
    for await (const what of unnamedBlobs(context, bucket)) damages.push({ bucket, key: undefined, what });
  }
  return { buckets: buckets.length, objects, bytes, damages };
}

interface Verified {
  readonly stored: number;
  readonly what?: string;
}

async function verifyObject(context: Context, bucket: string, { key, found }: Inspected): Promise<Verified> {
  if (found instanceof StoreError) return { stored: 0, what: found.detail };
  try {
    return { stored: await readAll(context, bucket, found) };
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    // Replaced or deleted while it was being read: what is there now is another matter.
    const current = await context.records.object(bucket, key);
    return current?.version === found.record.version ? { stored: 0, what: error.detail } : { stored: 0 };
  }
}

/** Every stored byte through its checksums; the etag too, where it is the hash of what is stored. */
async function readAll(context: Context, bucket: string, { record, body }: ObjectWithBody): Promise<number> {
  const hash = record.encryption === undefined && body.home !== "parts" ? createHash("md5") : undefined;
  let stored = 0;
  if (body.home === "inline") {
    hash?.update(body.bytes);
    stored = body.bytes.length;
  } else {
    const blobs = body.home === "blob" ? [body.blob] : body.parts.map(({ blob }) => blob);
    const { key, version } = record;
    const stillNamed = async () => (await context.records.object(bucket, key))?.version === version;
    for await (const chunk of readBlobs(context, bucket, blobs, stillNamed)) {
      hash?.update(chunk);
      stored += chunk.length;
    }
  }
  if (hash !== undefined && hash.digest("hex") !== record.etag) {
    throw new StoreError("InternalError", {
      detail: "The stored data is damaged: the bytes do not match their etag.",
    });
  }
  return stored;
}

async function* readBlobs(
  context: Context,
  bucket: string,
  blobs: readonly StoredBlob[],
  stillNamed: () => Promise<boolean>,
): AsyncIterable<Uint8Array> {
  const reader = await context.blobs.open(bucket, blobs, stillNamed);
  if (reader === undefined) throw new StoreError("NoSuchKey");
  try {
    for (const blob of blobs) yield* reader.read(blob, { offset: 0, length: blob.size });
  } finally {
    await reader.close();
  }
}

/** The parts of uploads in flight. */
async function* verifyParts(context: Context, bucket: string): AsyncIterable<Verified & { key: string }> {
  for await (const { key, id } of everyUpload(context, bucket)) {
    for (const { number, blob, stored: size } of await context.records.parts(bucket, id)) {
      const isThere = async () =>
        (await context.records.parts(bucket, id)).some((part) => part.blob === blob);
      let stored = 0;
      try {
        for await (const chunk of readBlobs(context, bucket, [{ id: blob, size }], isThere))
          stored += chunk.length;
        yield { key, stored };
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        yield (await isThere()) ? { key, stored, what: `Part ${number}: ${error.detail}` } : { key, stored };
      }
    }
  }
}

async function* unnamedBlobs(context: Context, bucket: string): AsyncIterable<string> {
  for await (const blob of context.blobs.all(bucket, "settled")) {
    if (!(await context.records.knowsBlob(bucket, blob))) yield `Blob ${blob} belongs to no object.`;
  }
}
