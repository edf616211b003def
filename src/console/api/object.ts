// Routes for one object: metadata, upload, change of metadata and tags, and links.
import type { Engine } from "../../engine/engine.ts";
import type { HttpRequest } from "../../http/server/listen.ts";
import { encodePath } from "../../http/sigv4.ts";
import type { Bucket } from "../../model/bucket.ts";
import { allAlgorithms, checksumNames, type ExpectedChecksum, hex } from "../../model/checksums/checksum.ts";
import { StoreError } from "../../model/errors.ts";
import { parseIsoTime } from "../../model/iso-time.ts";
import { limits } from "../../model/limits.ts";
import { metadataHeaders } from "../../model/metadata.ts";
import type { HttpMetadata, ObjectRecord } from "../../model/object.ts";
import { ConsoleError, json } from "../response.ts";
import type { Fields, Query, Route } from "../route.ts";
import type { LinkDocument, ObjectDocument, StoredDocument } from "../wire-types.ts";
import { toObjectLockDocument } from "./bucket/object-lock.ts";
import { previewKind, toByteStream } from "./content.ts";
import { toObjectRow } from "./objects.ts";
import type { Links } from "./presigned-links.ts";
import { versioningState } from "./setting-changes.ts";

const maxLinkSeconds = 7 * 24 * 3600;

/** Returns the URL of a public bucket; undefined if it is not public. */
export type FindPublicUrl = (bucket: Bucket, request: HttpRequest) => string | undefined;

export function singleObjectRoutes(
  engine: Engine,
  links: Links,
  findPublicUrl: FindPublicUrl,
  now: () => number,
): readonly Route[] {
  return [
    {
      method: "GET",
      path: "/api/object",
      needs: { right: "view", on: "bucket", in: "query" },
      async run({ query, request }) {
        const [name, key] = [query.text("bucket"), query.text("key")];
        const description = await describe(engine, query, now());
        const bucket = await engine.bucket(name);
        const above = bucket && findPublicUrl(bucket, request);
        const publicUrl = above === undefined ? null : above + encodePath(key);
        return json({ ...description, url: links.url(name, key), publicUrl } satisfies ObjectDocument);
      },
    },
    {
      method: "PUT",
      path: "/api/object",
      needs: { right: "edit", on: "bucket", in: "query" },
      async run({ request, query }) {
        const contentType = request.header("content-type");
        const outcome = await engine.put(query.text("bucket"), query.text("key"), bodySource(request), {
          httpMetadata: contentType === undefined ? {} : { contentType },
        });
        if (outcome.outcome === "refused") throw new StoreError("PreconditionFailed");
        return json({ etag: outcome.record.etag } satisfies StoredDocument, 201);
      },
    },
    {
      method: "POST",
      path: "/api/object/metadata",
      needs: { right: "edit", on: "bucket", in: "body" },
      async run({ fields }) {
        const record = await replaceMetadata(engine, await fields());
        return json({ etag: record.etag } satisfies StoredDocument);
      },
    },
    {
      method: "PUT",
      path: "/api/object/tags",
      needs: { right: "edit", on: "bucket", in: "body" },
      async run({ fields }) {
        const given = await fields();
        const tags = new Map(Object.entries(given.texts("tags")));
        // The version is that of the page, so that a newer object does not get these tags.
        const target = { version: given.text("version") };
        const { etag } = await engine.setTags(given.text("bucket"), given.text("key"), tags, target);
        return json({ etag } satisfies StoredDocument);
      },
    },
    {
      method: "GET",
      path: "/api/object/frame",
      needs: { right: "view", on: "bucket", in: "query" },
      run({ query }) {
        const url = links.framedPdf(query.text("bucket"), query.text("key"));
        return json({ url } satisfies LinkDocument);
      },
    },
    {
      method: "POST",
      path: "/api/object/link",
      needs: { right: "edit", on: "bucket", in: "body" },
      async run({ fields }) {
        const given = await fields();
        const seconds = given.number("seconds");
        if (!Number.isInteger(seconds) || seconds < 1 || seconds > maxLinkSeconds) {
          throw new ConsoleError(400, "The lifetime of a link must be between 1 second and 7 days.");
        }
        const url = links.signed(given.text("bucket"), given.text("key"), seconds);
        return json({ url } satisfies LinkDocument);
      },
    },
  ];
}

async function describe(
  engine: Engine,
  query: Query,
  now: number,
): Promise<Omit<ObjectDocument, "url" | "publicUrl">> {
  const [name, key, time] = [query.text("bucket"), query.text("key"), query.time("at")];
  const record = await engine.head(name, key, { time });
  if (record === undefined) throw new StoreError("NoSuchKey");
  // Without the customer-provided key, no further details of an encrypted object are known.
  const described =
    record.encryption?.keyMd5 === undefined ? await engine.describe(name, key, { time }) : undefined;
  const parts = described?.outcome === "found" ? described.parts : undefined;
  const bucket = await engine.bucket(name);
  const preview = previewKind(record);
  return {
    ...toObjectRow(record, bucket, now),
    version: record.version,
    versioning: versioningState(bucket),
    tags: Object.fromEntries(record.tags ?? []),
    httpMetadata: { ...record.httpMetadata },
    customMetadata: Object.fromEntries(record.customMetadata),
    checksums: toChecksumTexts(record),
    checksumParts: record.checksumParts,
    parts: parts?.length,
    encryptionKeyMd5: record.encryption?.keyMd5,
    objectLock: toObjectLockDocument(record, bucket),
    // A PDF is shown by the S3 API, whose link is to the current version.
    preview: preview === "pdf" && time !== undefined ? "none" : preview,
  };
}

function toChecksumTexts({ checksums }: ObjectRecord): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const algorithm of allAlgorithms) {
    const value = checksums[algorithm];
    if (value !== undefined) texts[checksumNames[algorithm]] = hex(value);
  }
  return texts;
}

/** The request body as a source, with the length from Content-Length. */
export function bodySource(request: HttpRequest) {
  const length = request.header("content-length");
  return {
    length: length === undefined ? undefined : Number(length),
    chunks: () => request.body(),
    // Does not cancel the request, so that the client can read the error response.
    cancel: async () => {},
  };
}

/** Rewrites the object only if its etag is unchanged, so that concurrent changes are not lost. */
async function replaceMetadata(engine: Engine, given: Fields): Promise<ObjectRecord> {
  const [bucket, key, etag] = [given.text("bucket"), given.text("key"), given.text("etag")];
  const condition = { etagMatches: [{ value: etag, weak: false }] };
  const httpMetadata = parseHttpMetadata(given);
  const storageClass = given.text("storageClass");
  const customMetadata = new Map(Object.entries(given.texts("customMetadata")));
  const record = await engine.head(bucket, key);
  if (record === undefined) throw new StoreError("NoSuchKey");
  if (record.encryption?.keyMd5 !== undefined) {
    throw new ConsoleError(
      409,
      "This object is encrypted with a customer-provided key and cannot be changed without it.",
      { hint: "Copy it onto itself with an S3 client that has the key." },
    );
  }
  if (record.size > limits.singleWriteBytes) {
    throw new ConsoleError(409, "This object is too large to change its metadata here.", {
      hint: "Copy it onto itself with an S3 client, as a multipart copy.",
    });
  }
  const found = await engine.get(bucket, key, { condition });
  if (found.outcome !== "found") throw changedError();
  const outcome = await engine.put(bucket, key, found.bytes.inline ?? toByteStream(found.bytes), {
    ...{ condition, httpMetadata, customMetadata, storageClass },
    checksums: expectedChecksums(found.record),
    tags: found.record.tags,
    passthrough: found.record.passthrough,
  });
  if (outcome.outcome === "refused") throw changedError();
  return outcome.record;
}

function changedError(): ConsoleError {
  return new ConsoleError(412, "The object was changed or deleted meanwhile.", {
    hint: "Reload the page to see its current state.",
  });
}

/** Keeps the checksum algorithms; values that were computed from parts are computed again. */
export function expectedChecksums({ checksums, checksumParts }: ObjectRecord): ExpectedChecksum[] {
  return allAlgorithms
    .filter((algorithm) => algorithm !== "md5" && checksums[algorithm] !== undefined)
    .map((algorithm) =>
      checksumParts === undefined ? { algorithm, value: checksums[algorithm] } : { algorithm },
    );
}

function parseHttpMetadata(given: Fields): HttpMetadata {
  const texts = given.texts("httpMetadata");
  const fieldNames = metadataHeaders.map(([name]) => name as string);
  const wrong = Object.keys(texts).find((name) => !fieldNames.includes(name));
  if (wrong !== undefined) throw new ConsoleError(400, `There is no HTTP metadata named "${wrong}".`);
  const { cacheExpiry = "", ...rest } = texts;
  const entries = Object.entries(rest).filter(([, value]) => value !== "");
  for (const [name, value] of entries) {
    if (/[\r\n\0]/.test(value)) throw new ConsoleError(400, `"${name}" must be one line.`);
  }
  if (cacheExpiry === "") return Object.fromEntries(entries);
  const expiry = parseIsoTime(cacheExpiry);
  if (expiry === undefined)
    throw new ConsoleError(400, '"Expires" must be a date, such as 2027-01-31T12:00Z.');
  return { ...Object.fromEntries(entries), cacheExpiry: expiry };
}
