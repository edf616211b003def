// Ingests a body that is stored with its record: in one buffer, hashed in one call.
import { Buffer } from "node:buffer";
import type { Context } from "../context.ts";
import { encryptInto, sealedSize } from "../encryption/sealed-blocks.ts";
import type { Source } from "../engine.ts";
import { readWhole } from "./byte-streams.ts";
import { computeDigests } from "./digests.ts";
import type { IngestedBody, IngestOptions } from "./ingested-body.ts";

/** Ingests a body of known length. */
export async function ingestInline(
  context: Context,
  source: Source,
  options: IngestOptions,
): Promise<IngestedBody> {
  // Copied before the first await: a script may change its buffer after the call.
  const bytes = source instanceof Uint8Array ? Buffer.from(source) : await readWhole(source, source.length!);
  return toInlineBody(context, bytes, options);
}

/** Creates an inline body. The bytes are not copied. */
export function toInlineBody(
  context: Context,
  bytes: Uint8Array,
  { checksums: expected = [], dataKey, part }: IngestOptions,
): IngestedBody {
  // Fields are listed because most puts run this: spreading costs as much as hashing a small body.
  const { size, etag, checksums } = computeDigests(bytes, expected);
  if (dataKey === undefined) return { size, etag, checksums, storage: { inline: bytes } };
  const inline = Buffer.allocUnsafe(sealedSize(size, context.blockBytes));
  encryptInto(inline, context, dataKey, part, bytes);
  return { size, etag, checksums, storage: { inline } };
}
