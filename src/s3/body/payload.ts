// The body of a request as it is to be stored: unframed and verified by what x-amz-content-sha256 says of it.
import { createHash } from "node:crypto";
import type { ByteStream } from "../../engine/engine.ts";
import { release } from "../../http/server/release-buffer.ts";
import { sha256, unsignedPayload } from "../../http/sigv4.ts";
import { type Authentication, sameText } from "../auth/authenticate.ts";
import { S3Error } from "../errors.ts";
import type { S3Request } from "../request.ts";
import { type ChunkedForm, unchunk } from "./aws-chunked.ts";
import type { BudgetShare } from "./document-budget.ts";

export interface Payload {
  readonly source: ByteStream;
  /** In the place of the source: all of it, when it has come already and is what was announced. */
  arrived(): Uint8Array | undefined;
  /** What came behind the body, known at its end. */
  readonly trailers: ReadonlyMap<string, string>;
  /** Pays for a document that is read whole. */
  readonly share: BudgetShare;
}

const streaming = /^STREAMING-(AWS4-HMAC-SHA256-PAYLOAD|UNSIGNED-PAYLOAD)(-TRAILER)?$/;

export function openPayload(
  request: S3Request,
  { payload, signed }: Authentication,
  share: BudgetShare,
): Payload {
  const trailers = new Map<string, string>();
  const match = streaming.exec(payload);
  if (match !== null) {
    const form: ChunkedForm = {
      signed: match[1] === "UNSIGNED-PAYLOAD" ? undefined : signed,
      hasTrailer: match[2] !== undefined,
    };
    const wanted = trailerNames(request);
    const length = lengthOf(request, "x-amz-decoded-content-length");
    const chunks = () => withTrailers(unchunk(request.http.body(), form, trailers), wanted, trailers);
    const source = { length, chunks, cancel: async () => {} };
    return { source, arrived: () => undefined, trailers, share };
  }
  if (/^STREAMING-/.test(payload)) throw new S3Error("NotImplemented");
  const length = request.http.hasBody ? lengthOf(request, "content-length") : 0;
  const isHash = /^[0-9a-f]{64}$/.test(payload);
  if (!isHash && payload !== unsignedPayload) {
    throw new S3Error("InvalidArgument", {
      message: "x-amz-content-sha256 must be UNSIGNED-PAYLOAD, a STREAMING form, or a valid sha256 value.",
    });
  }
  /** Something else than was announced: told by the source, which others are asked before. */
  let wrong: Uint8Array | undefined;
  const body = () => (wrong === undefined ? request.http.body() : once(wrong));
  const arrived = () => {
    const bytes = request.http.arrived?.();
    if (bytes === undefined || !isHash || sameText(sha256(bytes), payload)) return bytes;
    wrong = bytes;
    return undefined;
  };
  const chunks = () => (isHash ? hashed(body(), payload) : body());
  const { filler } = request.http;
  const filling = isHash || filler === undefined ? {} : { filler };
  return {
    source: { length, chunks, ...filling, release, cancel: async () => {} },
    arrived,
    trailers,
    share,
  };
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

function lengthOf(request: S3Request, name: string): number | undefined {
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

/** What was announced to come behind the body must have come. */
async function* withTrailers(
  chunks: AsyncIterable<Uint8Array>,
  wanted: readonly string[],
  trailers: ReadonlyMap<string, string>,
): AsyncGenerator<Uint8Array> {
  yield* chunks;
  const missing = wanted.find((name) => !trailers.has(name));
  if (missing === undefined) return;
  throw new S3Error("InvalidRequest", { message: `The trailer ${missing} was announced and did not come.` });
}

async function* hashed(chunks: AsyncIterable<Uint8Array>, expected: string): AsyncGenerator<Uint8Array> {
  const hash = createHash("sha256");
  for await (const chunk of chunks) {
    hash.update(chunk);
    yield chunk;
  }
  const actual = hash.digest("hex");
  if (sameText(actual, expected)) return;
  throw new S3Error("XAmzContentSHA256Mismatch", {
    details: { ClientComputedContentSHA256: expected, S3ComputedContentSHA256: actual },
  });
}

const firstBytes = 16 * 1024;

/** All of a body that is a document, at most `most` bytes. The buffer grows with what has come, not with what is announced. */
export async function wholePayload({ source, share }: Payload, most: number): Promise<Buffer> {
  const { length } = source;
  if (length !== undefined && length > most) throw new S3Error("MaxMessageLengthExceeded");
  const limit = length ?? most;
  let buffer = Buffer.alloc(0);
  let size = 0;
  for await (const chunk of source.chunks()) {
    if (size + chunk.length > limit) {
      throw new S3Error(length === undefined ? "MaxMessageLengthExceeded" : "IncompleteBody");
    }
    if (size + chunk.length > buffer.length) {
      const wanted = Math.max(size + chunk.length, 2 * buffer.length, firstBytes);
      const capacity = Math.min(wanted, limit);
      share.hold(capacity);
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
