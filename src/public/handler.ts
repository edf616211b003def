// Serves public buckets over HTTP, read-only, with conditions, ranges, caching and index documents.
// A private bucket gets the same 404 as a missing bucket, so its existence stays hidden.
import type { DescribeOutcome, Engine, GetOptions, GetOutcome } from "../engine/engine.ts";
import { corsResponseHeaders, preflightHeaders } from "../http/cors.ts";
import {
  conditionFromHeaders,
  headersFromMetadata,
  rangeConditionFromHeader,
  rangeFromHeader,
} from "../http/headers.ts";
import type { HttpBody, HttpHandler, HttpRequest, HttpResponse } from "../http/server/listen.ts";
import { refusedReadStatus } from "../http/status.ts";
import { splitTarget } from "../http/target.ts";
import type { Exchange } from "../metrics/exchange.ts";
import type { Bucket } from "../model/bucket.ts";
import type { Clause, Condition } from "../model/condition.ts";
import { errorMessage } from "../model/errors.ts";
import { isSendable } from "../model/metadata.ts";
import type { ObjectRecord } from "../model/object.ts";
import { applicableRange, type ByteRange, resolveRange } from "../model/range.ts";
import type { Publication } from "../model/settings/publication.ts";
import { type AddressNames, parseAddress } from "./address.ts";
import { type ErrorStatus, errorMessages, toErrorStatus } from "./errors.ts";
import { type RequestedObject, withExchangeReport } from "./exchange.ts";

export interface HandlerOptions {
  readonly engine: Pick<Engine, "bucket" | "head" | "describe" | "get">;
  readonly names: AddressNames;
  readonly log: (line: string) => void;
  /** Called for every request when its response has ended. */
  readonly onExchange?: ((exchange: Exchange) => void) | undefined;
}

type Headers = readonly (readonly [string, string])[];

interface PublicRequest {
  readonly request: HttpRequest;
  readonly bucket: Bucket;
  readonly publication: Publication;
  readonly cors: Headers;
}

export function createPublicHandler({ engine, names, log, onExchange }: HandlerOptions): HttpHandler {
  async function handle(request: HttpRequest, requested: RequestedObject): Promise<HttpResponse> {
    const address = await parseAddress(request.header("host") ?? "", request.target, names);
    if (address === undefined) return textResponse(400, "The path of this request is not valid.");
    const bucket = await engine.bucket(address.bucket);
    const publication = bucket?.settings.publication;
    if (bucket === undefined || publication === undefined) return errorResponse(404);
    requested.bucket = bucket.name;
    requested.key = address.key || undefined;
    const rules = bucket.settings.cors ?? [];
    if (request.method === "OPTIONS") {
      const headers = preflightHeaders(rules, request);
      if (headers !== undefined) return answer(204, headers);
    }
    const cors = corsResponseHeaders(rules, request);
    if (request.method !== "GET" && request.method !== "HEAD")
      return textResponse(405, "Public buckets are read-only: use GET or HEAD.", [
        ["allow", "GET, HEAD"],
        ...cors,
      ]);
    return show({ request, bucket, publication, cors }, address.key);
  }

  async function show(publicRequest: PublicRequest, key: string): Promise<HttpResponse> {
    const { bucket, publication, cors, request } = publicRequest;
    const isFolder = key === "" || key.endsWith("/");
    const objectKey = isFolder && publication.index !== undefined ? key + publication.index : key;
    const record = objectKey === "" ? undefined : await findRecord(bucket.name, objectKey);
    if (record !== undefined) return showObject(publicRequest, record);
    if (!isFolder && publication.index !== undefined) {
      const isIndexed = (await findRecord(bucket.name, `${key}/${publication.index}`)) !== undefined;
      if (isIndexed)
        return textResponse(302, "This path is a folder: follow the redirect.", [
          ["location", folderRedirect(request)],
          ...cors,
        ]);
    }
    return notFound(publicRequest);
  }

  /** Returns undefined for an invalid key too, because a request can contain any key. */
  async function findRecord(bucket: string, key: string): Promise<ObjectRecord | undefined> {
    try {
      return await engine.head(bucket, key);
    } catch (error) {
      if (toErrorStatus(error) === 404) return undefined;
      throw error;
    }
  }

  async function notFound({ bucket, publication, cors, request }: PublicRequest): Promise<HttpResponse> {
    const key = publication.notFound;
    const record = key === undefined ? undefined : await findRecord(bucket.name, key);
    if (record === undefined || record.encryption?.keyMd5 !== undefined) return errorResponse(404, cors);
    const headers = [...objectHeaders(record, publication), ...cors];
    if (request.method === "HEAD") return answer(404, [...headers, contentLengthHeader(record.size)]);
    const outcome = await engine.get(bucket.name, record.key);
    return outcome.outcome === "found" ? answer(404, headers, toBody(outcome)) : errorResponse(404, cors);
  }

  async function showObject(publicRequest: PublicRequest, record: ObjectRecord): Promise<HttpResponse> {
    const { request, bucket, publication, cors } = publicRequest;
    if (record.encryption?.keyMd5 !== undefined)
      return textResponse(
        403,
        "This object is encrypted with a customer-provided key: use S3 to read it.",
        cors,
      );
    const condition = readCondition(request);
    if (condition === undefined)
      return textResponse(400, "An ETag in If-Match or If-None-Match is not valid.", cors);
    const requested = {
      range: rangeFromHeader(request.header("range") ?? null),
      rangeCondition: rangeConditionFromHeader(request.header("if-range") ?? null),
    };
    try {
      const outcome =
        request.method === "HEAD"
          ? withoutBytes(
              await engine.describe(bucket.name, record.key, { condition, parts: "omit" }),
              requested,
            )
          : await engine.get(bucket.name, record.key, { condition, ...requested });
      if (outcome.outcome === "missing") return notFound(publicRequest);
      if (outcome.outcome === "refused")
        return refusedResponse(outcome.clause, outcome.record, publicRequest);
      const { size } = outcome.record;
      const range = applicableRange(requested.range, requested.rangeCondition, outcome.record);
      const headers = [...objectHeaders(outcome.record, publication), ...cors];
      if (range !== undefined) headers.push(contentRangeHeader(size, outcome.range));
      if (outcome.bytes === undefined) headers.push(contentLengthHeader(outcome.range.length));
      return answer(range === undefined ? 200 : 206, headers, toBody(outcome));
    } catch (error) {
      if (toErrorStatus(error) !== 416) throw error;
      return errorResponse(416, [["content-range", `bytes */${record.size}`], ...cors]);
    }
  }

  return withExchangeReport(async (request, requested) => {
    try {
      return await handle(request, requested);
    } catch (error) {
      const status = toErrorStatus(error);
      if (status >= 500) {
        log(`A request to a public bucket failed: ${errorMessage(error)}`);
      }
      return errorResponse(status);
    }
  }, onExchange);
}

type FoundObject = Extract<GetOutcome, { outcome: "found" }>;

function toBody({ bytes }: { readonly bytes: FoundObject["bytes"] | undefined }): HttpBody {
  return bytes === undefined ? null : (bytes.inline ?? bytes);
}

/** Converts the outcome of a HEAD to that of a GET without bytes. Throws InvalidRange. */
function withoutBytes(
  outcome: DescribeOutcome,
  { range: requested, rangeCondition }: Pick<GetOptions, "range" | "rangeCondition">,
) {
  if (outcome.outcome !== "found") return outcome;
  const range = applicableRange(requested, rangeCondition, outcome.record);
  return { ...outcome, range: resolveRange(range, outcome.record.size), bytes: undefined };
}

function contentRangeHeader(size: number, { offset, length }: ByteRange): [string, string] {
  return ["content-range", `bytes ${offset}-${offset + length - 1}/${size}`];
}

function contentLengthHeader(size: number): [string, string] {
  return ["content-length", String(size)];
}

/** Returns undefined if an etag in the condition is not valid. */
function readCondition(request: HttpRequest): Condition | undefined {
  try {
    return conditionFromHeaders({ get: (name) => request.header(name) ?? null });
  } catch {
    return undefined;
  }
}

function refusedResponse(
  clause: Clause,
  record: ObjectRecord,
  { publication, cors }: PublicRequest,
): HttpResponse {
  if (refusedReadStatus(clause) === 412) return answer(412, cors);
  const notModifiedHeaders = new Set([
    "etag",
    "last-modified",
    "cache-control",
    "expires",
    "x-content-type-options",
  ]);
  return answer(304, [
    ...objectHeaders(record, publication).filter(([name]) => notModifiedHeaders.has(name)),
    ...cors,
  ]);
}

function objectHeaders(record: ObjectRecord, publication: Publication): [string, string][] {
  const { etag, uploaded, httpMetadata } = record;
  const stored = [...headersFromMetadata(httpMetadata)].filter(([, value]) => isSendable(value));
  const has = (name: string) => stored.some(([header]) => header === name);
  return [
    ["etag", `"${etag}"`],
    ["last-modified", new Date(uploaded).toUTCString()],
    ["accept-ranges", "bytes"],
    // Keep browsers from guessing the content type: as text/html, an object could run scripts.
    ["x-content-type-options", "nosniff"],
    ...stored,
    ...(has("content-type") ? [] : ([["content-type", "application/octet-stream"]] as [string, string][])),
    ...(publication.cacheControl === undefined || has("cache-control") || has("expires")
      ? []
      : ([["cache-control", publication.cacheControl]] as [string, string][])),
  ];
}

/** Returns a redirect relative to the last path segment: a path like `//a` would be a host. */
function folderRedirect({ target }: HttpRequest): string {
  const { rawPath, rawQuery } = splitTarget(target);
  const last = rawPath.slice(rawPath.lastIndexOf("/") + 1);
  return `./${last}/${rawQuery === "" ? "" : `?${rawQuery}`}`;
}

function answer(status: number, headers: Headers, body: HttpBody = null): HttpResponse {
  return { status, headers, body };
}

function errorResponse(status: ErrorStatus, headers: Headers = []): HttpResponse {
  return textResponse(status, errorMessages[status], headers);
}

function textResponse(status: number, message: string, headers: Headers = []): HttpResponse {
  const own: Headers = [
    ["content-type", "text/plain; charset=utf-8"],
    ["x-content-type-options", "nosniff"],
  ];
  return answer(status, [...own, ...headers], `${message}\n`);
}
