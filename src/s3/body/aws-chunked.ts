// Decodes aws-chunked bodies as a stream and verifies the signatures of chunks and trailer. If a
// signature is wrong, the stream fails before its end, so nothing is committed.
import { createHash } from "node:crypto";
import { emptyHash, scopeText, sha256, sign } from "../../http/sigv4.ts";
import { constantTimeEqual, type SigningContext } from "../auth/authenticate.ts";
import { S3Error } from "../errors.ts";

export interface ChunkedForm {
  /** Context to verify signatures; undefined if the chunks are not signed. */
  readonly signing: SigningContext | undefined;
  readonly hasTrailer: boolean;
}

const maxLineLength = 4096;
const maxTrailerLength = 16_384;
const maxChunkBytes = 5 * 1024 ** 3;

/** Reads lines and byte counts across the boundaries of network chunks. */
interface Incoming {
  /** Reads the next line, without its CRLF. */
  line(): Promise<string>;
  /** Reads the next `count` bytes, in one or more chunks. */
  take(count: number): AsyncGenerator<Uint8Array>;
  isAtEnd(): Promise<boolean>;
}

/** Yields the decoded body. Fills `trailers` before the stream ends. */
export async function* unchunk(
  source: AsyncIterable<Uint8Array>,
  { signing, hasTrailer }: ChunkedForm,
  trailers: Map<string, string>,
): AsyncGenerator<Uint8Array> {
  const incoming = readIncoming(source);
  let previous = signing?.signature ?? "";
  for (;;) {
    const { size, signature } = parseChunkHead(await incoming.line());
    const hash = signing === undefined ? undefined : createHash("sha256");
    for await (const bytes of incoming.take(size)) {
      hash?.update(bytes);
      yield bytes;
    }
    if (signing !== undefined) {
      previous = checkChunk(signing, previous, hash!.digest("hex"), signature);
    }
    if (size === 0) break;
    if ((await incoming.line()) !== "") throw malformed("A chunk does not end with CRLF.");
  }
  await readTrailer(incoming, trailers);
  if (hasTrailer && signing !== undefined) checkTrailer(signing, previous, trailers);
  if (!(await incoming.isAtEnd())) throw malformed("Bytes follow the last chunk.");
}

function parseChunkHead(line: string): { readonly size: number; readonly signature: string | undefined } {
  const match = /^([0-9a-fA-F]{1,16})(?:;(.*))?$/.exec(line);
  const size = match === null ? Number.NaN : Number.parseInt(match[1]!, 16);
  if (!(size <= maxChunkBytes)) throw malformed("A chunk size is not valid.");
  return { size, signature: /(?:^|;)chunk-signature=([0-9a-f]{64})(?:;|$)/.exec(match?.[2] ?? "")?.[1] };
}

function checkChunk(
  signing: SigningContext,
  previous: string,
  hash: string,
  given: string | undefined,
): string {
  const { key, scope, time } = signing;
  const text = ["AWS4-HMAC-SHA256-PAYLOAD", time, scopeText(scope), previous, emptyHash, hash].join("\n");
  const expected = sign(key, text);
  if (given === undefined || !constantTimeEqual(expected, given)) throw new S3Error("SignatureDoesNotMatch");
  return expected;
}

/** Reads lines of `name:value` up to an empty line or the end of the body. */
async function readTrailer(incoming: Incoming, trailers: Map<string, string>): Promise<void> {
  let read = 0;
  while (!(await incoming.isAtEnd())) {
    const line = await incoming.line();
    if (line === "") return;
    read += line.length;
    const at = line.indexOf(":");
    if (at < 1 || read > maxTrailerLength) throw new S3Error("MalformedTrailerError");
    const name = line.slice(0, at).trim().toLowerCase();
    if (trailers.has(name)) throw new S3Error("MalformedTrailerError");
    trailers.set(name, line.slice(at + 1).trim());
  }
}

function checkTrailer(signing: SigningContext, previous: string, trailers: Map<string, string>): void {
  const given = trailers.get("x-amz-trailer-signature");
  trailers.delete("x-amz-trailer-signature");
  const canonical = [...trailers].map(([name, value]) => `${name}:${value}\n`).join("");
  const { key, scope, time } = signing;
  const hash = sha256(Buffer.from(canonical, "latin1"));
  const text = ["AWS4-HMAC-SHA256-TRAILER", time, scopeText(scope), previous, hash].join("\n");
  if (given === undefined || !constantTimeEqual(sign(key, text), given))
    throw new S3Error("SignatureDoesNotMatch");
}

function readIncoming(source: AsyncIterable<Uint8Array>): Incoming {
  const chunks = source[Symbol.asyncIterator]();
  let rest: Buffer = Buffer.alloc(0);
  let hasEnded = false;

  async function readMore(): Promise<boolean> {
    if (hasEnded) return false;
    const { done, value } = await chunks.next();
    hasEnded = done === true;
    if (done === true) return false;
    const next = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    rest = rest.length === 0 ? next : Buffer.concat([rest, next]);
    return true;
  }

  return {
    async line() {
      for (;;) {
        const end = rest.indexOf("\r\n");
        if (end > maxLineLength || (end === -1 && rest.length > maxLineLength + 1)) {
          throw malformed("A line of the chunked body is too long.");
        }
        if (end !== -1) {
          const text = rest.toString("latin1", 0, end);
          rest = rest.subarray(end + 2);
          return text;
        }
        if (!(await readMore())) {
          // Some clients omit the CRLF of the last line.
          if (rest.length === 0) throw new S3Error("IncompleteBody");
          const text = rest.toString("latin1");
          rest = Buffer.alloc(0);
          return text;
        }
      }
    },
    async *take(count) {
      let remaining = count;
      while (remaining > 0) {
        if (rest.length === 0 && !(await readMore())) throw new S3Error("IncompleteBody");
        const bytes = rest.subarray(0, remaining);
        rest = rest.subarray(bytes.length);
        remaining -= bytes.length;
        if (bytes.length > 0) yield bytes;
      }
    },
    async isAtEnd() {
      while (rest.length === 0) if (!(await readMore())) return true;
      return false;
    },
  };
}

/** S3 answers every fault of the framing as if the body had ended there. */
function malformed(message: string): S3Error {
  return new S3Error("IncompleteBody", { message });
}
