// Payloads of requests that are in memory: their hash, and reading a stream in pieces that fit.
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import type { S3Payload } from "./client.ts";

export function toPayload(parts: readonly Uint8Array[]): S3Payload {
  const hash = createHash("sha256");
  let length = 0;
  for (const part of parts) {
    hash.update(part);
    length += part.length;
  }
  return { parts, length, sha256: hash.digest("hex") };
}

/** Header with the MD5, which services require for a body that will be locked. */
export function md5Header({ parts }: S3Payload): { readonly "content-md5": string } {
  const hash = createHash("md5");
  for (const part of parts) hash.update(part);
  return { "content-md5": hash.digest("base64") };
}

export function textPayload(text: string): S3Payload {
  return toPayload([Buffer.from(text, "utf8")]);
}

/**
 * Yields the stream in pieces of `bytes`; only the last piece may be shorter. At least one piece is
 * yielded, so that an empty stream is an empty piece.
 */
export async function* readPieces(
  chunks: AsyncIterable<Uint8Array>,
  bytes: number,
): AsyncGenerator<readonly Uint8Array[]> {
  let piece: Uint8Array[] = [];
  let left = bytes;
  let isFirst = true;
  for await (const chunk of chunks) {
    for (let rest = chunk; rest.length > 0; ) {
      if (left === 0) {
        yield piece;
        isFirst = false;
        piece = [];
        left = bytes;
      }
      const taken = rest.subarray(0, left);
      piece.push(taken);
      left -= taken.length;
      rest = rest.subarray(taken.length);
    }
  }
  if (piece.length > 0 || isFirst) yield piece;
}
