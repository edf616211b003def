// Decodes aws-chunked bodies and verifies the signatures of chunks and trailer. If a signature is
// wrong, the body fails before its end, so nothing is committed.
import { createHash } from "node:crypto";
import { emptyHash, scopeText, sha256, sign } from "../../http/sigv4.ts";
import { constantTimeEqual, type SigningContext } from "../auth/authenticate.ts";
import { S3Error } from "../errors.ts";

export interface ChunkedForm {
  /** Context to verify signatures; undefined if the chunks are not signed. */
  readonly signing: SigningContext | undefined;
  readonly hasTrailer: boolean;
  /** Names of trailers that the body must have. */
  readonly announced: readonly string[];
}

const maxLineLength = 4096;
const maxTrailerLength = 16_384;
const maxChunkBytes = 5 * 1024 ** 3;

/** Decodes without waiting, because a promise for each chunk would cost as much as its bytes. */
export interface ChunkDecoder {
  /** Adds the next bytes as they arrived. Call it only after `take` has returned undefined. */
  feed(bytes: Uint8Array): void;
  /**
   * Returns the next bytes of the body, at most `maxBytes`, as a view of the bytes that were fed.
   * Returns undefined if all of them are decoded: then their memory can be reused.
   */
  take(maxBytes: number): Buffer | undefined;
  /** Number of bytes of the current chunk that were not fed yet. */
  missingBytes(): number;
  /** Accepts bytes of the current chunk that were read without `feed`. */
  accept(bytes: Uint8Array): void;
  /** Call it after the last bytes. Throws if the body is incomplete. */
  end(): void;
}

const noBytes = Buffer.alloc(0);

/** Fills `trailers` before the body ends. */
export function createChunkDecoder(form: ChunkedForm, trailers: Map<string, string>): ChunkDecoder {
  const { signing } = form;
  let state: "head" | "data" | "data end" | "trailer" | "done" = "head";
  let rest: Buffer = noBytes;
  let previous = signing?.signature ?? "";
  let size = 0;
  let remaining = 0;
  let signature: string | undefined;
  let hash: ReturnType<typeof createHash> | undefined;
  let trailerLength = 0;

  function accept(bytes: Uint8Array): void {
    remaining -= bytes.length;
    const isWhole = bytes.length === size;
    if (signing !== undefined && !isWhole) hash = (hash ?? createHash("sha256")).update(bytes);
    if (remaining > 0) return;
    if (signing !== undefined) {
      const digest = isWhole ? sha256(bytes) : hash!.digest("hex");
      previous = checkChunk(signing, previous, digest, signature);
    }
    hash = undefined;
    state = "data end";
  }

  function readLine(line: string): void {
    if (state === "head") {
      ({ size, signature } = parseChunkHead(line));
      remaining = size;
      state = size === 0 ? "trailer" : "data";
      if (size === 0 && signing !== undefined) previous = checkChunk(signing, previous, emptyHash, signature);
    } else if (state === "data end") {
      if (line !== "") throw malformed("A chunk does not end with CRLF.");
      state = "head";
    } else if (line === "") endTrailer();
    else {
      trailerLength += line.length;
      if (trailerLength > maxTrailerLength) throw new S3Error("MalformedTrailerError");
      addTrailer(line, trailers);
    }
  }

  function endTrailer(): void {
    state = "done";
    if (form.hasTrailer && signing !== undefined) checkTrailer(signing, previous, trailers);
    requireTrailers(form.announced, trailers);
  }

  /** Returns the next line without its CRLF, or undefined if it is incomplete. */
  function nextLine(): string | undefined {
    const end = rest.indexOf("\r\n");
    if (end > maxLineLength || (end === -1 && rest.length > maxLineLength + 1)) {
      throw malformed("A line of the chunked body is too long.");
    }
    if (end === -1) return undefined;
    const text = rest.toString("latin1", 0, end);
    rest = rest.subarray(end + 2);
    return text;
  }

  return {
    accept,
    missingBytes: () => (state === "data" && rest.length === 0 ? remaining : 0),
    feed(bytes) {
      const next = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      rest = rest.length === 0 ? next : Buffer.concat([rest, next]);
    },
    take(maxBytes) {
      while (rest.length > 0) {
        if (state === "data") {
          const bytes = rest.subarray(0, Math.min(remaining, maxBytes));
          rest = rest.subarray(bytes.length);
          accept(bytes);
          return bytes;
        }
        if (state === "done") throw malformed("Bytes follow the last chunk.");
        const line = nextLine();
        if (line === undefined) {
          // The caller may reuse the memory that the start of the line is in.
          rest = Buffer.from(rest);
          return undefined;
        }
        readLine(line);
      }
      return undefined;
    },
    end() {
      // Some clients omit the CRLF of the last line.
      const last = rest.toString("latin1");
      rest = noBytes;
      if (last !== "") readLine(last);
      if (state === "trailer") endTrailer();
      if (state !== "done") throw new S3Error("IncompleteBody");
    },
  };
}

/** Yields the decoded body. Fills `trailers` before the stream ends. */
export async function* unchunk(
  source: AsyncIterable<Uint8Array>,
  form: ChunkedForm,
  trailers: Map<string, string>,
): AsyncGenerator<Uint8Array> {
  const decoder = createChunkDecoder(form, trailers);
  for await (const chunk of source) {
    decoder.feed(chunk);
    for (let bytes = decoder.take(chunk.length); bytes !== undefined; bytes = decoder.take(chunk.length)) {
      yield bytes;
    }
  }
  decoder.end();
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

function addTrailer(line: string, trailers: Map<string, string>): void {
  const at = line.indexOf(":");
  if (at < 1) throw new S3Error("MalformedTrailerError");
  const name = line.slice(0, at).trim().toLowerCase();
  if (trailers.has(name)) throw new S3Error("MalformedTrailerError");
  trailers.set(name, line.slice(at + 1).trim());
}

/** Throws if a trailer named in x-amz-trailer is missing. */
function requireTrailers(announced: readonly string[], trailers: ReadonlyMap<string, string>): void {
  const missing = announced.find((name) => !trailers.has(name));
  if (missing === undefined) return;
  throw new S3Error("InvalidRequest", {
    message: `The trailer ${missing} is named in x-amz-trailer but missing after the body.`,
  });
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

/** S3 answers every fault of the framing as if the body had ended there. */
function malformed(message: string): S3Error {
  return new S3Error("IncompleteBody", { message });
}
