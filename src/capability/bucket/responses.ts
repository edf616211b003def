// Responses of the protocol: metadata as JSON, then the bytes of an object.
import type { ObjectBytes } from "../../engine/engine.ts";
import type { ByteSource, HttpResponse } from "../../http/server/listen.ts";

/** A response to a GET. A header has the size of the metadata, after which the bytes start. */
export function metadataResponse(json: unknown, bytes?: ObjectBytes): HttpResponse {
  const metadata = toJsonBytes(json);
  const { inline } = bytes ?? {};
  return {
    status: 200,
    headers: [sizeHeader(metadata)],
    body:
      bytes === undefined
        ? metadata
        : inline === undefined
          ? withMetadata(metadata, bytes)
          : Buffer.concat([metadata, inline]),
  };
}

/** A response to a PUT: its whole body is metadata. */
export function jsonResponse(json: unknown): HttpResponse {
  return { status: 200, headers: [["content-type", "application/json"]], body: toJsonBytes(json) };
}

export function sizeHeader(metadata: Uint8Array): readonly [string, string] {
  return ["cf-r2-metadata-size", String(metadata.length)];
}

export function toJsonBytes(json: unknown): Buffer {
  return Buffer.from(JSON.stringify(json));
}

function withMetadata(metadata: Buffer, bytes: ObjectBytes): ByteSource {
  return {
    length: metadata.length + bytes.length,
    async *chunks() {
      yield metadata;
      yield* bytes.chunks();
    },
    release(chunk) {
      if (chunk !== metadata) bytes.release?.(chunk);
    },
    cancel: () => bytes.cancel(),
  };
}
