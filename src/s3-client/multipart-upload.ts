// Uploads a stream to an S3 service: one put if it fits into a part, otherwise a multipart upload.
// One part at a time is in memory, so that it can be sent again after an interruption.
import { Buffer } from "node:buffer";
import { unescapeXml } from "../http/xml-entities.ts";
import { elementText } from "./errors.ts";
import { Broken } from "./http-client.ts";
import { md5Header, readPieces, toPayload } from "./payload.ts";
import type { RetryingS3Client, S3Response } from "./retrying-client.ts";

const MiB = 1024 * 1024;
const maxParts = 10_000;
const minPartBytes = 16 * MiB;
/** Part size of a stream whose length is not known: 10,000 parts are 625 GiB. */
const streamPartBytes = 64 * MiB;

export interface S3Upload {
  readonly bucket: string;
  readonly key: string;
  /** Headers of the put, or of the creation of the upload. */
  readonly headers: Readonly<Record<string, string>>;
  /** Headers of the request that makes the object visible: conditions. */
  readonly conditions: Readonly<Record<string, string>>;
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Number of bytes; undefined when not known in advance. */
  readonly length: number | undefined;
  /** Default: chosen by the length. */
  readonly partBytes?: number | undefined;
}

export interface UploadedObject {
  readonly etag: string;
  readonly version: string | undefined;
  readonly size: number;
}

/** More bytes arrived than 10,000 parts can hold. */
export class StreamTooLong extends Error {
  override readonly name = "StreamTooLong";
}

/** Returns the smallest part size with which `length` bytes fit into 10,000 equal parts. */
export function choosePartBytes(length: number | undefined): number {
  if (length === undefined) return streamPartBytes;
  return Math.max(minPartBytes, Math.ceil(length / maxParts / MiB) * MiB);
}

export async function uploadStream(client: RetryingS3Client, upload: S3Upload): Promise<UploadedObject> {
  const { chunks, length, partBytes = choosePartBytes(length) } = upload;
  const pieces = readPieces(chunks, partBytes);
  try {
    const first = (await pieces.next()).value ?? [];
    const second = await pieces.next();
    if (second.done === true) return await putWhole(client, upload, first);
    return await uploadParts(client, upload, rejoin([first, second.value], pieces));
  } finally {
    // Closes the stream also if the upload failed in the middle.
    await pieces.return(undefined);
  }
}

type Pieces = AsyncIterable<readonly Uint8Array[]>;

async function* rejoin(start: readonly (readonly Uint8Array[])[], rest: Pieces): Pieces {
  yield* start;
  yield* rest;
}

async function putWhole(
  client: RetryingS3Client,
  { bucket, key, headers, conditions }: S3Upload,
  parts: readonly Uint8Array[],
): Promise<UploadedObject> {
  const body = toPayload(parts);
  const { message } = await client.sendWithRetries({
    ...{ method: "PUT", bucket, key, body, headers: { ...headers, ...conditions, ...md5Header(body) } },
  });
  return { etag: etagOf(message.headers.etag), version: versionOf(message), size: body.length };
}

async function uploadParts(
  client: RetryingS3Client,
  { bucket, key, headers, conditions }: S3Upload,
  pieces: Pieces,
): Promise<UploadedObject> {
  const target = { bucket, key };
  const created = await client.sendWithRetries({
    ...{ method: "POST", ...target, query: [["uploads", ""]], headers },
  });
  const id = elementText(created.document, "UploadId");
  if (id === undefined || id === "") throw client.mapError(new Broken("the upload has no id"));
  try {
    const etags: string[] = [];
    let size = 0;
    for await (const piece of pieces) {
      if (etags.length >= maxParts) throw new StreamTooLong(`More than ${size} bytes arrived.`);
      const body = toPayload(piece);
      const query = [
        ["partNumber", String(etags.length + 1)],
        ["uploadId", id],
      ] as const;
      const { message } = await client.sendWithRetries({
        ...{ method: "PUT", ...target, query, body, headers: md5Header(body) },
      });
      etags.push(etagOf(message.headers.etag));
      size += body.length;
    }
    return { ...(await completeUpload(client, { ...target, id, etags, conditions })), size };
  } catch (error) {
    await abortUpload(client, { ...target, id });
    throw error;
  }
}

export interface UploadParts {
  readonly bucket: string;
  readonly key: string;
  readonly id: string;
  readonly etags: readonly string[];
  readonly conditions?: Readonly<Record<string, string>>;
}

export async function completeUpload(
  client: RetryingS3Client,
  { bucket, key, id, etags, conditions = {} }: UploadParts,
): Promise<Omit<UploadedObject, "size">> {
  const parts = etags.map(
    (etag, i) => `<Part><PartNumber>${i + 1}</PartNumber><ETag>"${etag}"</ETag></Part>`,
  );
  const text = `<CompleteMultipartUpload>${parts.join("")}</CompleteMultipartUpload>`;
  const body = toPayload([Buffer.from(text.replaceAll('"', "&quot;"), "utf8")]);
  const query = [["uploadId", id]] as const;
  const request = { method: "POST", bucket, key, query, body, headers: conditions } as const;
  const answer = await client.sendWithRetries(request);
  return { etag: etagOf(elementText(answer.document, "ETag")), version: versionOf(answer.message) };
}

/** A failed abort is ignored: the error of the upload is more useful, and services expire uploads. */
export async function abortUpload(
  client: RetryingS3Client,
  { bucket, key, id }: Omit<UploadParts, "etags">,
): Promise<void> {
  const query = [["uploadId", id]] as const;
  await client.sendWithRetries({ method: "DELETE", bucket, key, query }).catch(() => {});
}

export function etagOf(text: string | undefined): string {
  return (unescapeXml(text ?? "") ?? text ?? "").replaceAll('"', "");
}

function versionOf({ headers }: S3Response["message"]): string | undefined {
  const id = headers["x-amz-version-id"];
  return typeof id === "string" && id !== "null" ? id : undefined;
}
