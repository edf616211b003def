// Imports from an S3 service: lists page by page, and reads each object with its metadata, part by
// part if the service reports parts.
import { metadataFromHeaders } from "../../../http/headers.ts";
import { checksumLengths, type ExpectedChecksum } from "../../../model/checksums/checksum.ts";
import { limits } from "../../../model/limits.ts";
import { readCustomMetadata } from "../../../s3/headers/metadata.ts";
import type { S3Endpoint, S3Times } from "../../../s3-client/client.ts";
import { elementText, isTransient, parseNumber, S3Refusal, tlsAdvice } from "../../../s3-client/errors.ts";
import { type Answer, Broken } from "../../../s3-client/http-client.ts";
import { elementContents, nextPageToken } from "../../../s3-client/listing.ts";
import { createListingOrder } from "../../../s3-client/listing-order.ts";
import { createResumingBody, isRestFrom, readBody } from "../../../s3-client/response-body.ts";
import { createRetryingS3Client, type RetryingS3Client } from "../../../s3-client/retrying-client.ts";
import { CommandError } from "../../framework/command-error.ts";
import { escapeControls } from "../../framework/output.ts";
import {
  type ImportSource,
  parseMd5Etag,
  parsePartCount,
  type SourceBody,
  type SourceContent,
  type SourceObject,
  SourceUnavailable,
} from "./source.ts";

export interface S3SourceOptions {
  readonly endpoint: S3Endpoint;
  /** Session token of temporary credentials. */
  readonly sessionToken?: string | undefined;
  readonly times?: Partial<S3Times>;
}

type Query = readonly (readonly [string, string])[];

export function openS3Source({ endpoint, sessionToken, times = {} }: S3SourceOptions): ImportSource {
  const client = createRetryingS3Client(endpoint, { mapError: toSourceError, times });
  const tokenHeaders = sessionToken === undefined ? {} : { "x-amz-security-token": sessionToken };

  async function* objects(): AsyncGenerator<SourceObject> {
    try {
      yield* listObjects();
    } catch (error) {
      throw client.mapError(error);
    }
  }

  async function* listObjects(): AsyncGenerator<SourceObject> {
    const order = createListingOrder();
    let next: string | undefined;
    do {
      const query: (readonly [string, string])[] = [
        ["list-type", "2"],
        ["encoding-type", "url"],
        ["prefix", endpoint.prefix],
      ];
      if (next !== undefined) query.push(["continuation-token", next]);
      const { document } = await client.sendWithRetries({ method: "GET", query, headers: tokenHeaders });
      const isEncoded = elementText(document, "EncodingType") === "url";
      const objects = Array.from(elementContents(document, "Contents"), (content) =>
        sourceObject(content, isEncoded),
      );
      next = nextPageToken(document, next);
      order.check(objects.map(({ key }) => key));
      yield* objects;
    } while (next !== undefined);
  }

  function sourceObject(content: string, isEncoded: boolean): SourceObject {
    const text = elementText(content, "Key");
    const size = parseNumber(elementText(content, "Size"));
    const key = isEncoded && text !== undefined ? decodeKey(text) : text;
    if (key === undefined || size === undefined || !key.startsWith(endpoint.prefix))
      throw new Broken("a listing cannot be read");
    if (Buffer.byteLength(key) > limits.keyBytes)
      throw new Broken(`a listing has a key that is longer than ${limits.keyBytes} bytes`);
    const etag = (elementText(content, "ETag") ?? "").replaceAll('"', "");
    const written = Date.parse(elementText(content, "LastModified") ?? "") || 0;
    const ref = { client, headers: tokenHeaders, key, etag, size };
    return { key: key.slice(endpoint.prefix.length), size, etag, written, read: () => readObject(ref) };
  }

  return { objects, close: () => client.close() };
}

/** Returns undefined if the key is not encoded as a URL. */
function decodeKey(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return undefined;
  }
}

/** The message contains the host and the service's answer, but never an access key. */
function toSourceError(error: unknown, host: string): unknown {
  if (!(error instanceof Error) || error instanceof CommandError) return error;
  const isRefusal = error instanceof S3Refusal;
  const reason = escapeControls(isRefusal ? `${error.code}: ${error.message}` : error.message);
  if (isRefusal && !isTransient(error)) {
    return new CommandError(`The S3 service at ${host} refused the request: ${reason}`, { cause: error });
  }
  return new SourceUnavailable(`The S3 service at ${host} is not available: ${reason}${tlsAdvice(error)}`, {
    cause: error,
  });
}

interface ObjectRef {
  readonly client: RetryingS3Client;
  readonly headers: Readonly<Record<string, string>>;
  readonly key: string;
  readonly etag: string;
  readonly size: number;
}

async function readObject(ref: ObjectRef): Promise<SourceContent> {
  const count = parsePartCount(ref.etag);
  let first: Answer | undefined = await startGet(ref, count === undefined ? [] : [["partNumber", "1"]]);
  const { headers, rawHeaders } = first;
  const header = (name: string) => {
    const value = headers[name];
    return typeof value === "string" ? value : null;
  };
  // A service without support for partNumber returns the whole object with status 200.
  const isInParts = count !== undefined && first.statusCode === 206;
  if (!isInParts) refuseOtherObject(ref, first);
  const isOtherHash = /kms/.test(header("x-amz-server-side-encryption") ?? "");
  const md5 = isOtherHash ? undefined : parseMd5Etag(ref.etag);
  return {
    httpMetadata: metadataFromHeaders({ get: header }),
    customMetadata: readCustomMetadata(rawHeaders),
    storageClass: header("x-amz-storage-class") === "STANDARD_IA" ? "InfrequentAccess" : undefined,
    checksums: [...(md5 === undefined ? [] : [md5]), ...(isInParts ? [] : wholeChecksums(header))],
    parts: isInParts ? count : undefined,
    async openBody(part) {
      const answer = part === undefined || part === 1 ? first : undefined;
      first = undefined;
      return openResumableBody(
        ref,
        answer ?? (await startGet(ref, part === undefined ? [] : [["partNumber", String(part)]])),
      );
    },
    cancel: () => void first?.destroy(),
  };
}

/** Throws unless the answer is the whole object, with the size that was listed. */
function refuseOtherObject({ size }: ObjectRef, answer: Answer): void {
  const length = parseNumber(answer.headers["content-length"]);
  if (answer.statusCode === 200 && length === size) return;
  answer.destroy();
  throw new CommandError(
    answer.statusCode === 200
      ? `The source sends ${length ?? "an unknown number of"} bytes of an object that it listed with ${size}.`
      : `The source answered with status ${answer.statusCode} instead of the whole object.`,
    { hint: "If the object was replaced meanwhile, import again." },
  );
}

function startGet({ client, headers, key, etag }: ObjectRef, query: Query, range?: string): Promise<Answer> {
  const requestHeaders = {
    ...headers,
    // All requests for an object must read the same version.
    ...(etag === "" ? {} : { "if-match": `"${etag}"` }),
    ...(range === undefined ? { "x-amz-checksum-mode": "ENABLED" } : { range }),
  };
  return client.withRetries((deadline) =>
    client.send({ method: "GET", key, query, headers: requestHeaders }, deadline),
  );
}

/** Opens a body that resumes with a new request when the connection breaks. */
function openResumableBody(ref: ObjectRef, answer: Answer): SourceBody {
  const { client } = ref;
  const span = /^bytes (\d+)-(\d+)\/\d+$/.exec(answer.headers["content-range"] ?? "");
  const start = answer.statusCode === 206 ? Number(span?.[1]) : 0;
  const length = parseNumber(answer.headers["content-length"]) ?? ref.size;
  let first: Answer | undefined = answer;
  async function* chunks(): AsyncGenerator<Uint8Array> {
    const body = createResumingBody({
      length,
      retryMilliseconds: client.times.retry,
      isOver: client.isClosed,
      mapError: client.mapError,
      async open(done) {
        const range = `bytes=${start + done}-${start + length - 1}`;
        const given = first;
        first = undefined;
        const message = given ?? (await startGet(ref, [], range));
        if (given === undefined && !isRestFrom(message, start + done)) {
          message.destroy();
          throw client.mapError(new Broken("it did not send the range that was requested"));
        }
        return readBody(message, client.times.idle);
      },
    });
    try {
      for (let chunk = await body.next(); chunk !== undefined; chunk = await body.next()) yield chunk;
    } finally {
      body.cancel();
    }
  }
  return { length, chunks, cancel: () => void first?.destroy() };
}

const checksumAlgorithms = [
  "crc64nvme",
  "crc32c",
  "crc32",
  "sha512",
  "sha256",
  "sha1",
  "xxhash128",
  "xxhash3",
  "xxhash64",
] as const;

/** Parses checksums of the whole object; skips composite checksums, which end in `-<parts>`. */
function wholeChecksums(header: (name: string) => string | null): ExpectedChecksum[] {
  return checksumAlgorithms.flatMap((algorithm) => {
    const value = Buffer.from(header(`x-amz-checksum-${algorithm}`) ?? "", "base64");
    const isWhole = !header(`x-amz-checksum-${algorithm}`)?.includes("-");
    return isWhole && value.length === checksumLengths[algorithm] ? [{ algorithm, value }] : [];
  });
}
