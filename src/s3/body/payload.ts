// Opens the body of a request: decodes aws-chunked, and verifies the hash of x-amz-content-sha256.
import { createHash } from "node:crypto";
import type { ByteStream, DirectReader } from "../../engine/engine.ts";
import { release } from "../../http/server/body/release-buffer.ts";
import { sha256, unsignedPayload } from "../../http/sigv4.ts";
import { type Authentication, constantTimeEqual } from "../auth/authenticate.ts";
import { S3Error } from "../errors.ts";
import type { S3Request } from "../request.ts";
import { type ChunkedForm, createChunkDecoder, unchunk } from "./aws-chunked.ts";
import { hashInto, readChunkedInto } from "./direct-readers.ts";
import type { BudgetShare } from "./document-budget.ts";

export interface Payload {
  readonly source: ByteStream;
  /** Returns the body, instead of `source`, if it has arrived completely and its hash is right. */
  bufferedBytes(): Uint8Array | undefined;
  /** Trailers of the body; complete when the body has been read. */
  readonly trailers: ReadonlyMap<string, string>;
  /** Memory budget for a document that is read completely. */
  readonly share: BudgetShare;
}

const streaming = /^STREAMING-(AWS4-HMAC-SHA256-PAYLOAD|UNSIGNED-PAYLOAD)(-TRAILER)?$/;

export function openPayload(
  request: S3Request,
  { payload, signing }: Authentication,
  share: BudgetShare,
): Payload {
  const trailers = new Map<string, string>();
  const match = streaming.exec(payload);
  if (match !== null) {
    const form: ChunkedForm = {
      signing: match[1] === "UNSIGNED-PAYLOAD" ? undefined : signing,
      hasTrailer: match[2] !== undefined,
      announced: trailerNames(request),
    };
    const length = parseLengthHeader(request, "x-amz-decoded-content-length");
    const chunks = () => unchunk(request.http.body(), form, trailers);
    const direct = withDirectReader(request, (reader) =>
      readChunkedInto(reader, createChunkDecoder(form, trailers)),
    );
    const source = { length, chunks, ...direct, cancel: async () => {} };
    return { source, bufferedBytes: () => undefined, trailers, share };
  }
  if (/^STREAMING-/.test(payload)) throw new S3Error("NotImplemented");
  const length = request.http.hasBody ? parseLengthHeader(request, "content-length") : 0;
  const isHash = /^[0-9a-f]{64}$/.test(payload);
  if (!isHash && payload !== unsignedPayload) {
    throw new S3Error("InvalidArgument", {
      message: "x-amz-content-sha256 must be UNSIGNED-PAYLOAD, a STREAMING form, or a valid sha256 value.",
    });
  }
  /** A body with a wrong hash. Reading `source` throws the error, after all other checks. */
  let mismatched: Uint8Array | undefined;
  const body = () => (mismatched === undefined ? request.http.body() : singleChunk(mismatched));
  const bufferedBytes = () => {
    const bytes = request.http.bufferedBody?.();
    if (bytes === undefined || !isHash || constantTimeEqual(sha256(bytes), payload)) return bytes;
    mismatched = bytes;
    return undefined;
  };
  const chunks = () => (isHash ? verifyHash(body(), payload) : body());
  const direct = withDirectReader(request, (reader) =>
    isHash ? hashInto(reader, (actual) => checkHash(actual, payload)) : reader,
  );
  return {
    source: { length, chunks, ...direct, release, cancel: async () => {} },
    bufferedBytes,
    trailers,
    share,
  };
}

/** Returns a source's `directReader`, or nothing if the connection cannot write into buffers. */
function withDirectReader(
  { http }: S3Request,
  wrap: (reader: DirectReader) => DirectReader,
): Pick<ByteStream, "directReader"> {
  const { directReader } = http;
  return directReader === undefined ? {} : { directReader: () => wrap(directReader()) };
}

async function* singleChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

function parseLengthHeader(request: S3Request, name: string): number | undefined {
  const text = request.header(name);
  if (text === undefined) return undefined;
  const length = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(length)) return length;
  throw new S3Error("InvalidArgument", { message: `${name} must be a whole number of bytes.` });
}

function trailerNames(request: S3Request): string[] {
  const text = request.header("x-amz-trailer") ?? "";
  return text
    .split(",")
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== "");
}

async function* verifyHash(chunks: AsyncIterable<Uint8Array>, expected: string): AsyncGenerator<Uint8Array> {
  const hash = createHash("sha256");
  for await (const chunk of chunks) {
    hash.update(chunk);
    yield chunk;
  }
  checkHash(hash.digest("hex"), expected);
}

function checkHash(actual: string, expected: string): void {
  if (constantTimeEqual(actual, expected)) return;
  throw new S3Error("XAmzContentSHA256Mismatch", {
    details: { ClientComputedContentSHA256: expected, S3ComputedContentSHA256: actual },
  });
}

const initialBytes = 16 * 1024;

/** Reads a document of at most `maxBytes`. Memory grows with the bytes received, not declared. */
export async function readWholePayload({ source, share }: Payload, maxBytes: number): Promise<Buffer> {
  const { length } = source;
  if (length !== undefined && length > maxBytes) throw new S3Error("MaxMessageLengthExceeded");
  const limit = length ?? maxBytes;
  let buffer = Buffer.alloc(0);
  let size = 0;
  for await (const chunk of source.chunks()) {
    if (size + chunk.length > limit) {
      throw new S3Error(length === undefined ? "MaxMessageLengthExceeded" : "IncompleteBody");
    }
    if (size + chunk.length > buffer.length) {
      const needed = Math.max(size + chunk.length, 2 * buffer.length, initialBytes);
      const capacity = Math.min(needed, limit);
      share.resize(capacity);
      const grown = Buffer.allocUnsafe(capacity);
      buffer.copy(grown, 0, 0, size);
      buffer = grown;
    }
    buffer.set(chunk, size);
    size += chunk.length;
  }
  if (length !== undefined && size !== length) throw new S3Error("IncompleteBody");
  return buffer.subarray(0, size);
}
