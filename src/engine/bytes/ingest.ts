// Brings a body in, inline or as a staged blob. `planIngest` chooses one of the strategies, each of
// which is a file.
import { StoreError } from "../../model/errors.ts";
import { limits } from "../../model/limits.ts";
import type { Context } from "../context.ts";
import type { ByteStream, Source } from "../engine.ts";
import { ingestBatched } from "./batched.ts";
import type { IngestedBody, IngestOptions } from "./ingested-body.ts";
import { ingestInline } from "./inline.ts";
import { planIngest } from "./plan.ts";
import { ingestPooled } from "./pooled.ts";
import { ingestThroughRing } from "./ring.ts";
import { randomEtag } from "./sealed-checksums.ts";
import { ingestZeroCopy } from "./zero-copy.ts";

/** Refuses a source whose declared length is over the limit, before a byte is read. */
export function checkDeclaredLength(source: Source): void {
  if ((source.length ?? 0) > limits.singleWriteBytes) throw new StoreError("EntityTooLarge");
}

/** The etag of plain bytes is their MD5; the etag of encrypted bytes is random. */
export function ingest(context: Context, source: Source, options: IngestOptions): Promise<IngestedBody> {
  const ingested = dispatch(context, source, options, context.blobs.batched?.maxBytes);
  if (options.dataKey === undefined) return ingested;
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
    isEncrypted: dataKey !== undefined,
    part,
    activeStreams,
    wholeStreamBytes,
    hasDirectReader: !isWhole && source.directReader !== undefined,
  });
  switch (strategy) {
    case "inline":
      return ingestInline(context, source, options);
    case "batched":
      // Without space in the batch, the body is brought in as if the adapter did not batch.
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
