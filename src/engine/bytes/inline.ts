// Brings in a body that is kept beside its record: in one buffer, hashed in one call.
import type { Context } from "../context.ts";
import type { Source } from "../engine.ts";
import { collect, once, readWhole } from "./byte-streams.ts";
import { computeDigests } from "./digests.ts";
import { encrypt } from "./encryption.ts";
import type { IngestedBody, IngestOptions } from "./ingested-body.ts";

/** For a body whose length is known. */
export async function ingestInline(
  context: Context,
  source: Source,
  options: IngestOptions,
): Promise<IngestedBody> {
  // Copied before anything is awaited: a script may change its buffer after the call.
  const bytes = source instanceof Uint8Array ? Buffer.from(source) : await readWhole(source, source.length!);
  return toInlineBody(context, bytes, options);
}

/** Keeps the bytes without a copy. */
export function toInlineBody(
  context: Context,
  bytes: Uint8Array,
  { checksums: expected = [], dataKey, part }: IngestOptions,
): IngestedBody | Promise<IngestedBody> {
  // Written out, since most puts come here: spreading costs as much as hashing a small body.
  const { size, etag, checksums } = computeDigests(bytes, expected);
  if (dataKey === undefined) return { size, etag, checksums, storage: { inline: bytes } };
  return collect(encrypt(context, dataKey, part, once(bytes))).then((inline) => ({
    ...{ size, etag, checksums, storage: { inline } },
  }));
}
