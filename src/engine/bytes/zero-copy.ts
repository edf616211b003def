// Ingests a large body whose sender writes directly into the engine's ring of buffers.
import type { Buffer } from "node:buffer";
import type { Context } from "../context.ts";
import type { ByteStream } from "../engine.ts";
import { checkNotLonger, checkNotShorter } from "./byte-streams.ts";
import type { IngestedBody, IngestOptions } from "./ingested-body.ts";
import { ingestInRing } from "./ring.ts";

export function ingestZeroCopy(
  context: Context,
  stream: ByteStream,
  options: IngestOptions,
): Promise<IngestedBody> {
  const fill = (nextBuffer: () => Promise<Buffer>) => readDirect(stream, nextBuffer);
  return ingestInRing(context, { length: stream.length, fill }, options);
}

async function* readDirect(
  stream: ByteStream,
  nextBuffer: () => Promise<Buffer>,
): AsyncGenerator<Uint8Array> {
  const reader = stream.directReader!();
  let seen = 0;
  try {
    for (let isEnd = false; !isEnd; ) {
      const buffer = await nextBuffer();
      const count = await reader.readInto(buffer);
      seen += count;
      checkNotLonger(stream, seen);
      isEnd = count < buffer.length;
      if (count > 0) yield isEnd ? buffer.subarray(0, count) : buffer;
    }
  } finally {
    reader.close();
  }
  checkNotShorter(stream, seen);
}
