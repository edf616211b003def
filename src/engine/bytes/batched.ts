// Ingests a medium-sized body together with others: the adapter writes many of them at once.
import type { BatchedBlobs } from "../blobs.ts";
import type { Context } from "../context.ts";
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
  const batched = context.blobs.batched!;
  return source instanceof Uint8Array
    ? addToBatch(batched, source, options)
    : collectAndBatch(context, source, options);
}

/** Collects the whole stream first, so that no batch waits for a slow sender. */
async function collectAndBatch(
  context: Context,
  stream: ByteStream,
  options: IngestOptions,
): Promise<IngestedBody> {
  const { ingests, blobs } = context;
  const length = stream.length!;
  ingests.wholeStreamBytes += length;
  try {
    const bytes = await readWhole(stream, length);
    const added = await addToBatch(blobs.batched!, bytes, options);
    if (added !== undefined) return added;
    const body = { chunks: once(bytes), isLarge: isLarge(length), isPooled: false };
    return await stage(context, body, options);
  } finally {
    ingests.wholeStreamBytes -= length;
  }
}

async function addToBatch(
  batched: BatchedBlobs,
  bytes: Uint8Array,
  { bucket, checksums = [] }: IngestOptions,
): Promise<IngestedBody | undefined> {
  let digest: DigestResult | undefined;
  const blob = await batched.stage(bucket, bytes.length, (target) => {
    target.set(bytes);
    // Hash the copy: a script may change its own buffer after the call.
    digest = computeDigests(target, checksums);
  });
  return blob === undefined ? undefined : { ...digest!, storage: { blob } };
}
