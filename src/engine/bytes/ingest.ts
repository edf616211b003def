// Ingests a body, inline or as a staged blob. `planIngest` chooses one of the strategies, each of
// which has its own file.
import { StoreError } from "../../model/errors.ts";
import { limits } from "../../model/limits.ts";
import type { Context } from "../context.ts";
import { sealedSize } from "../encryption/sealed-blocks.ts";
import { randomEtag } from "../encryption/sealed-checksums.ts";
import type { ByteStream, Source } from "../engine.ts";
import { ingestBatched } from "./batched.ts";
import type { IngestedBody, IngestOptions } from "./ingested-body.ts";
import { ingestInline } from "./inline.ts";
import { planIngest } from "./plan.ts";
import { ingestPooled } from "./pooled.ts";
import { ingestThroughRing } from "./ring.ts";
import { ingestZeroCopy } from "./zero-copy.ts";

/** Refuses a source whose declared length exceeds the limit, before any byte is read. */
export function checkDeclaredLength(source: Source): void {
  if ((source.length ?? 0) > limits.singleWriteBytes) throw new StoreError("EntityTooLarge");
}

/** Returns the ingested body. Its etag is the MD5 of the plain bytes, or random if asked for. */
export function ingest(context: Context, source: Source, options: IngestOptions): Promise<IngestedBody> {
  const ingested = dispatch(context, source, options, context.blobs.batched?.maxBytes);
  if (options.etag !== "random") return ingested;
  return ingested.then((body) => ({ ...body, etag: randomEtag(context) }));
}

function dispatch(
  context: Context,
  source: Source,
  options: IngestOptions,
  maxBatchedBytes: number | undefined,
): Promise<IngestedBody> {
  const { activeStreams, wholeStreamBytes } = context.ingests;
  const { inlineBytes, part, dataKey } = options;
  const isWhole = source instanceof Uint8Array;
  const strategy = planIngest({
    length: source.length,
    isWhole,
    inlineBytes,
    maxBatchedBytes,
    sealBytes:
      dataKey === undefined || source.length === undefined
        ? 0
        : sealedSize(source.length, context.blockBytes) - source.length,
    part,
    activeStreams,
    wholeStreamBytes,
    hasDirectReader: !isWhole && source.directReader !== undefined,
  });
  switch (strategy) {
    case "inline":
      return ingestInline(context, source, options);
    case "batched":
      // If the batch has no free buffer, use the strategy for an adapter without batches.
      return ingestBatched(context, source, options).then(
        (body) => body ?? dispatch(context, source, options, undefined),
      );
    case "pooled":
      return ingestPooled(context, source, options);
    case "ring":
      return ingestThroughRing(context, source, options);
    case "zero-copy":
      return ingestZeroCopy(context, source as ByteStream, options);
  }
}
