// Objects of an S3 service: read, write, list, delete and copy.
import type { ByteStream, GetOutcome, Source, VersionOptions } from "../../../engine/engine.ts";
import { findFailedClause } from "../../../model/condition.ts";
import { StoreError } from "../../../model/errors.ts";
import type { ObjectRecord } from "../../../model/object.ts";
import type { Answer } from "../../../s3-client/http-client.ts";
import { StreamTooLong, uploadStream } from "../../../s3-client/multipart-upload.ts";
import { createResumingBody, isRestFrom, readBody } from "../../../s3-client/response-body.ts";
import { CommandError } from "../../framework/command-error.ts";
import type { ObjectStore } from "../object-store.ts";
import type { RemoteClient } from "./client.ts";
import { deleteMany } from "./delete-many.ts";
import { isCode, isStatus } from "./errors.ts";
import { createLister } from "./list-objects.ts";
import { conditionHeaders, recordFromHeaders, writeHeaders } from "./records.ts";
import { readTagDocument } from "./settings.ts";

type Query = (readonly [string, string])[];
type ObjectOperations = Pick<ObjectStore, "head" | "describe" | "get" | "put" | "delete" | "list">;

export function versionQuery(version: string | undefined): Query {
  return version === undefined ? [] : [["versionId", version]];
}

/** S3 reads versions by id only: `versionAt` finds the version of a time. */
export type FindVersion = (bucket: string, key: string, time: number) => Promise<string | undefined>;

export function createRemoteObjects(client: RemoteClient, versionAt: FindVersion): ObjectOperations {
  async function resolve(bucket: string, key: string, { version, time }: VersionOptions = {}) {
    if (time === undefined) return { query: versionQuery(version) };
    const found = await versionAt(bucket, key, time);
    return found === undefined ? undefined : { query: versionQuery(found) };
  }

  async function readTags(bucket: string, key: string, query: Query) {
    return readTagDocument(await client.read({ bucket, key, query: [["tagging", ""], ...query] }, "Tagging"));
  }

  /** Returns undefined for a missing object or a delete marker. */
  async function headAnswer(bucket: string, key: string, query: Query): Promise<Answer | undefined> {
    try {
      return (await client.sendWithRetries({ method: "HEAD", bucket, key, query })).message;
    } catch (error) {
      if (isStatus(error, 404) || isStatus(error, 405)) return undefined;
      throw error;
    }
  }

  const head: ObjectOperations["head"] = async (bucket, key, options = {}) => {
    const found = await resolve(bucket, key, options);
    const answer = found && (await headAnswer(bucket, key, found.query));
    if (found === undefined || answer === undefined) return undefined;
    const record = recordFromHeaders(key, answer, contentLength(answer));
    const hasTags = Number(answer.headers["x-amz-tagging-count"] ?? 0) > 0;
    if (!hasTags && options.withTags !== true) return record;
    const tags = await readTags(bucket, key, found.query);
    return tags.size === 0 ? record : { ...record, tags };
  };

  return {
    head,

    async describe(bucket, key, options = {}) {
      const record = await head(bucket, key, options);
      if (record === undefined) {
        // HEAD does not distinguish a missing bucket from a missing key.
        await requireBucket(client, bucket);
        return { outcome: "missing" };
      }
      return { outcome: "found", record, parts: await findParts(client, bucket, record) };
    },

    async get(bucket, key, options = {}) {
      if (options.range !== undefined || options.part !== undefined) throw new Error("Not used by commands.");
      const found = await resolve(bucket, key, options);
      if (found === undefined) return { outcome: "missing" };
      const headers = conditionHeaders(options.condition);
      let answer: Answer;
      try {
        answer = await client.withRetries((deadline) =>
          client.send({ method: "GET", bucket, key, query: found.query, headers }, deadline),
        );
      } catch (error) {
        if (isCode(error, ["NoSuchKey", "NoSuchVersion"]) || isStatus(error, 405))
          return { outcome: "missing" };
        throw error;
      }
      if (answer.statusCode !== 200) {
        answer.destroy();
        throw new CommandError(
          `${client.host} answered with status ${answer.statusCode} instead of the whole object.`,
        );
      }
      const record = recordFromHeaders(key, answer, contentLength(answer));
      return foundObject(client, { bucket, record, query: found.query, answer });
    },

    async put(bucket, key, source, options = {}) {
      const stream = toStream(source);
      try {
        const stored = await uploadStream(client, {
          ...{ bucket, key, chunks: stream.chunks(), length: stream.length },
          headers: writeHeaders(options),
          conditions: conditionHeaders(options.condition),
        });
        if (stream.length !== undefined && stored.size !== stream.length) {
          throw new StoreError("IncompleteBody");
        }
        return { outcome: "stored", record: newRecord(key, stored, options) };
      } catch (error) {
        await stream.cancel(error);
        if (!(error instanceof StreamTooLong)) throw error;
        throw new CommandError("The input is too long to be uploaded while its length is not known.", {
          hint: "Write it to a file first, and upload the file.",
          cause: error,
        });
      }
    },

    async delete(bucket, keys, { condition } = {}) {
      if (condition !== undefined) {
        const headers = conditionHeaders(condition);
        for (const key of keys) {
          // Some services ignore a condition of a delete, so compare here too.
          const record = await head(bucket, key);
          if (record === undefined) continue;
          if (findFailedClause(condition, record) !== undefined) throw new StoreError("PreconditionFailed");
          await client.sendWithRetries({ method: "DELETE", bucket, key, headers });
        }
        return [];
      }
      const results = await deleteMany(client, bucket, { targets: keys.map((key) => ({ key })) });
      const [refused] = results.filter(({ error }) => error !== undefined);
      if (refused?.error !== undefined) {
        throw new CommandError(`${client.host} did not delete "${refused.key}": ${refused.error}`);
      }
      return results.flatMap(({ key, marker }) =>
        marker === undefined
          ? []
          : [{ isDeleteMarker: true as const, key, version: marker, uploaded: Date.now() }],
      );
    },

    list: createLister(client),
  };
}

function contentLength({ headers }: Answer): number {
  const length = Number(headers["content-length"] ?? Number.NaN);
  if (Number.isSafeInteger(length)) return length;
  throw new CommandError("The service sent an object without its length.");
}

export async function requireBucket(client: RemoteClient, bucket: string): Promise<void> {
  try {
    await client.sendWithRetries({ method: "HEAD", bucket });
  } catch (error) {
    throw isStatus(error, 404) ? new StoreError("NoSuchBucket", { cause: error }) : error;
  }
}

/** Part sizes of a multipart object, from its first part: all parts but the last have one size. */
async function findParts(client: RemoteClient, bucket: string, { key, etag, size }: ObjectRecord) {
  const count = Number(/-(\d{1,5})$/.exec(etag)?.[1] ?? Number.NaN);
  if (Number.isNaN(count)) return undefined;
  const query = [["partNumber", "1"]] as const;
  const { message } = await client.sendWithRetries({ method: "HEAD", bucket, key, query });
  const first = contentLength(message);
  if (first * (count - 1) > size || first * count < size) return undefined;
  return Array.from({ length: count }, (_, i) => ({
    number: i + 1,
    size: i + 1 < count ? first : size - first * (count - 1),
  }));
}

interface OpenedObject {
  readonly bucket: string;
  readonly record: ObjectRecord;
  readonly query: Query;
  readonly answer: Answer;
}

/** The body resumes with a range of the same version when the connection breaks. */
function foundObject(client: RemoteClient, { bucket, record, query, answer }: OpenedObject): GetOutcome {
  const { key, etag, size } = record;
  let first: Answer | undefined = answer;
  const body = createResumingBody({
    length: size,
    retryMilliseconds: client.times.retry,
    isOver: client.isClosed,
    mapError: client.mapError,
    async open(done, cancellation) {
      const given = first;
      first = undefined;
      if (given !== undefined) return readBody(given, client.times.idle);
      const headers = {
        range: `bytes=${done}-${size - 1}`,
        ...(etag === "" ? {} : { "if-match": `"${etag}"` }),
      };
      const message = await client.withRetries((deadline) =>
        client.send({ method: "GET", bucket, key, query, headers, cancellation }, deadline),
      );
      if (!isRestFrom(message, done)) {
        message.destroy();
        throw new CommandError(
          `${client.host} did not send the range that was requested, so that the download cannot be resumed.`,
        );
      }
      return readBody(message, client.times.idle);
    },
  });
  async function* chunks(): AsyncGenerator<Uint8Array> {
    try {
      for (let chunk = await body.next(); chunk !== undefined; chunk = await body.next()) yield chunk;
    } finally {
      body.cancel();
    }
  }
  const bytes = { length: size, inline: undefined, chunks, cancel: async () => body.cancel() };
  return { outcome: "found", record, parts: undefined, range: { offset: 0, length: size }, bytes };
}

function toStream(source: Source): ByteStream {
  if (!(source instanceof Uint8Array)) return source;
  async function* chunks(): AsyncGenerator<Uint8Array> {
    yield source as Uint8Array;
  }
  return { length: source.length, chunks, cancel: async () => {} };
}

type Stored = Awaited<ReturnType<typeof uploadStream>>;

/** The record of an object that was just written, from what was sent and answered. */
function newRecord(
  key: string,
  { etag, version, size }: Stored,
  { httpMetadata = {}, customMetadata = new Map(), tags }: Parameters<ObjectStore["put"]>[3] & {},
): ObjectRecord {
  return {
    ...{ key, size, etag, httpMetadata, customMetadata, uploaded: Date.now(), storageClass: "Standard" },
    version: version ?? "null",
    ...(version === undefined ? {} : { isVersioned: true as const }),
    checksums: /^[0-9a-f]{32}$/.test(etag) ? { md5: Buffer.from(etag, "hex") } : {},
    ...(tags === undefined ? {} : { tags }),
  };
}
