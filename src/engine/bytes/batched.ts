// Ingests a medium-sized body together with others: the adapter writes many of them at once.
import { Buffer } from "node:buffer";
import type { Context } from "../context.ts";
import { encryptInto, sealedSize } from "../encryption/sealed-blocks.ts";
import type { ByteStream, Source } from "../engine.ts";
import { once, readWhole } from "./byte-streams.ts";
import { computeDigests, type DigestResult } from "./digests.ts";
import type { IngestedBody, IngestOptions } from "./ingested-body.ts";
import { isLarge } from "./plan.ts";
import { stage } from "./staging.ts";

/** Returns undefined if the batch has no free buffer for the bytes. A stream is always ingested. */
export function ingestBatched(
  context: Context,
  source: Source,
  options: IngestOptions,
): Promise<IngestedBody | undefined> {
  return source instanceof Uint8Array
    ? addToBatch(context, source, options)
    : collectAndBatch(context, source, options);
}

/** Collects the whole stream first, so that no batch waits for a slow sender. */
async function collectAndBatch(
  context: Context,
  stream: ByteStream,
  options: IngestOptions,
): Promise<IngestedBody> {
  const { ingests } = context;
  const length = stream.length!;
  ingests.wholeStreamBytes += length;
  try {
    const bytes = await readWhole(stream, length);
    const added = await addToBatch(context, bytes, options);
    if (added !== undefined) return added;
    const body = { chunks: once(bytes), isLarge: isLarge(length), isPooled: false };
    return await stage(context, body, options);
  } finally {
    ingests.wholeStreamBytes -= length;
  }
}

async function addToBatch(
  context: Context,
  bytes: Uint8Array,
  { bucket, checksums = [], dataKey, part }: IngestOptions,
): Promise<IngestedBody | undefined> {
  const size = dataKey === undefined ? bytes.length : sealedSize(bytes.length, context.blockBytes);
  let digest: DigestResult | undefined;
  const plain = bytes.buffer instanceof SharedArrayBuffer && dataKey ? Buffer.from(bytes) : bytes;
  // Hashed and sealed in one step without an await: a script may change its own buffer after it.
  const blob = await context.blobs.batched!.stage(bucket, size, (target) => {
    if (dataKey === undefined) target.set(plain);
    else encryptInto(target, context, dataKey, part, plain);
    digest = computeDigests(dataKey === undefined ? target : plain, checksums);
  });
  return blob === undefined ? undefined : { ...digest!, storage: { blob } };
}
