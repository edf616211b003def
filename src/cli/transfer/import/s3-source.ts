// An S3 service as the source of an import: its listing page by page, and each object with its metadata, in the parts it
// was made of where the service tells them.
import { metadataFromHeaders } from "../../../http/headers.ts";
import { checksumLengths, type ExpectedChecksum } from "../../../model/checksum.ts";
import { customOf } from "../../../s3/headers/metadata.ts";
import { hostText, type S3Place, type S3Times } from "../../../s3-client/client.ts";
import { elementText, isPassing, numberIn, S3Refusal, tlsAdvice } from "../../../s3-client/errors.ts";
import { type Answer, Broken } from "../../../s3-client/http-client.ts";
import { bodyOf, resumingBody } from "../../../s3-client/response-body.ts";
import { createS3Asking, type S3Asking } from "../../../s3-client/retrying-client.ts";
import { CommandError } from "../../framework/command-error.ts";
import {
  type ImportSource,
  md5OfEtag,
  type Piece,
  partsOfEtag,
  type Reading,
  SourceGone,
  type SourceObject,
} from "./source.ts";

export interface S3SourceOptions {
  readonly place: S3Place;
  /** Of a key that is good for a while. */
  readonly sessionToken?: string | undefined;
  readonly times?: Partial<S3Times>;
}

type Query = readonly (readonly [string, string])[];

export function openS3Source({ place, sessionToken, times = {} }: S3SourceOptions): ImportSource {
  const asking = createS3Asking(place, { told, times });
  const signed = sessionToken === undefined ? {} : { "x-amz-security-token": sessionToken };

  async function* objects(): AsyncGenerator<SourceObject> {
    let next: string | undefined;
    do {
      const query: (readonly [string, string])[] = [
        ["list-type", "2"],
        ["encoding-type", "url"],
        ["prefix", place.prefix],
      ];
      if (next !== undefined) query.push(["continuation-token", next]);
      const { document } = await asking.ask({ method: "GET", query, headers: signed });
      for (const [, content] of document.matchAll(/<Contents>(.*?)<\/Contents>/gs)) {
        yield sourceObject(content!, elementText(document, "EncodingType") === "url");
      }
      next =
        elementText(document, "IsTruncated") === "true"
          ? elementText(document, "NextContinuationToken")
          : undefined;
    } while (next !== undefined);
  }

  function sourceObject(content: string, isEncoded: boolean): SourceObject {
    const text = elementText(content, "Key");
    const size = numberIn(elementText(content, "Size"));
    const key = isEncoded && text !== undefined ? decodeURIComponent(text.replaceAll("+", " ")) : text;
    if (key === undefined || size === undefined || !key.startsWith(place.prefix)) {
      throw asking.told(new Broken("a listing cannot be read"));
    }
    const etag = (elementText(content, "ETag") ?? "").replaceAll('"', "");
    const written = Date.parse(elementText(content, "LastModified") ?? "") || 0;
    const about = { asking, headers: signed, key, etag, size };
    return { key: key.slice(place.prefix.length), size, etag, written, read: () => readObject(about) };
  }

  return { objects, close: () => asking.close() };
}

/** Never a key; what the service said, and which one. */
function told(error: unknown, host: string): unknown {
  if (!(error instanceof Error) || error instanceof CommandError) return error;
  const isRefusal = error instanceof S3Refusal;
  const said = isRefusal ? `${error.code}: ${error.message}` : error.message;
  if (isRefusal && !isPassing(error)) {
    return new CommandError(`The S3 service at ${host} refuses: ${said}`, { cause: error });
  }
  return new SourceGone(`The S3 service at ${host} cannot be reached or used: ${said}${tlsAdvice(error)}`, {
    cause: error,
  });
}

/** For messages. */
export function shownPlace(place: S3Place): string {
  return `s3://${hostText(place)}/${place.bucket}/${place.prefix}`;
}

interface About {
  readonly asking: S3Asking;
  readonly headers: Readonly<Record<string, string>>;
  readonly key: string;
  readonly etag: string;
  readonly size: number;
}

async function readObject(about: About): Promise<Reading> {
  const count = partsOfEtag(about.etag);
  let first: Answer | undefined = await getHead(about, count === undefined ? [] : [["partNumber", "1"]]);
  const { headers, rawHeaders } = first;
  const header = (name: string) => {
    const value = headers[name];
    return typeof value === "string" ? value : null;
  };
  // A service that knows no parts answers with the whole.
  const isInParts = count !== undefined && first.statusCode === 206;
  const isOtherHash = /kms/.test(header("x-amz-server-side-encryption") ?? "");
  const md5 = isOtherHash ? undefined : md5OfEtag(about.etag);
  return {
    httpMetadata: metadataFromHeaders({ get: header }),
    customMetadata: customOf(rawHeaders),
    storageClass: header("x-amz-storage-class") === "STANDARD_IA" ? "InfrequentAccess" : undefined,
    checksums: [...(md5 === undefined ? [] : [md5]), ...(isInParts ? [] : wholeChecksums(header))],
    parts: isInParts ? count : undefined,
    async piece(part) {
      const answer = part === undefined || part === 1 ? first : undefined;
      first = undefined;
      return pieceOf(
        about,
        answer ?? (await getHead(about, part === undefined ? [] : [["partNumber", String(part)]])),
      );
    },
    cancel: () => void first?.destroy(),
  };
}

function getHead({ asking, headers, key, etag }: About, query: Query, range?: string): Promise<Answer> {
  const wanted = {
    ...headers,
    // What is read in several requests must be one version.
    ...(etag === "" ? {} : { "if-match": `"${etag}"` }),
    ...(range === undefined ? { "x-amz-checksum-mode": "ENABLED" } : { range }),
  };
  return asking.untilDone((deadline) =>
    asking.accepted({ method: "GET", key, query, headers: wanted }, deadline),
  );
}

/** Goes on by itself where a connection breaks off. */
function pieceOf(about: About, answer: Answer): Piece {
  const { asking } = about;
  const span = /^bytes (\d+)-(\d+)\/\d+$/.exec(answer.headers["content-range"] ?? "");
  const start = answer.statusCode === 206 ? Number(span?.[1]) : 0;
  const length = numberIn(answer.headers["content-length"]) ?? about.size;
  let first: Answer | undefined = answer;
  async function* chunks(): AsyncGenerator<Uint8Array> {
    const body = resumingBody({
      length,
      retryMilliseconds: asking.times.retry,
      isOver: asking.isClosed,
      told: asking.told,
      async open(done) {
        const range = `bytes=${start + done}-${start + length - 1}`;
        const message = first ?? (await getHead(about, [], range));
        first = undefined;
        return bodyOf(message, asking.times.idle);
      },
    });
    try {
      for (let chunk = await body.next(); chunk !== undefined; chunk = await body.next()) yield chunk;
    } finally {
      body.leave();
    }
  }
  return { length, chunks, cancel: () => void first?.destroy() };
}

const sent = ["crc64nvme", "crc32c", "crc32", "sha256", "sha1"] as const;

/** Those of all bytes; those of parts' checksums have their number behind a dash. */
function wholeChecksums(header: (name: string) => string | null): ExpectedChecksum[] {
  return sent.flatMap((algorithm) => {
    const value = Buffer.from(header(`x-amz-checksum-${algorithm}`) ?? "", "base64");
    const isWhole = !header(`x-amz-checksum-${algorithm}`)?.includes("-");
    return isWhole && value.length === checksumLengths[algorithm] ? [{ algorithm, value }] : [];
  });
}
