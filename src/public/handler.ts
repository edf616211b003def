// Public buckets over HTTP: read-only, with conditions, ranges and caching, an index for folders and a page for what is
// not there. A bucket that is not public answers as one that does not exist.
import type { DescribeOutcome, Engine, GetOutcome } from "../engine/engine.ts";
import { corsResponseHeaders, preflightHeaders } from "../http/cors.ts";
import {
  conditionFromHeaders,
  headersFromMetadata,
  parseHttpDate,
  rangeFromHeader,
} from "../http/headers.ts";
import type { HttpBody, HttpHandler, HttpRequest, HttpResponse } from "../http/server/listen.ts";
import { refusedReadStatus, statusByReason } from "../http/status.ts";
import { splitTarget } from "../http/target.ts";
import type { Exchange } from "../metrics/exchange.ts";
import type { Bucket } from "../model/bucket.ts";
import type { Clause, Condition } from "../model/condition.ts";
import { StoreError } from "../model/errors.ts";
import { isSendable } from "../model/metadata.ts";
import type { ObjectRecord } from "../model/object.ts";
import type { Publication } from "../model/publication.ts";
import { type ByteRange, type RangeRequest, resolveRange } from "../model/range.ts";
import { type AddressNames, parseAddress } from "./address.ts";
import { type RequestedObject, withExchangeReport } from "./exchange.ts";

export interface HandlerOptions {
  readonly engine: Pick<Engine, "bucket" | "head" | "describe" | "get">;
  /** As it is now. */
  readonly names: () => Promise<AddressNames>;
  readonly log: (line: string) => void;
  /** Told of every request when its answer is over. */
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
    const address = parseAddress(request.header("host") ?? "", request.target, await names());
    if (address === undefined) return textResponse(400, "The address is not valid.");
    const bucket = await engine.bucket(address.bucket);
    const publication = bucket?.settings.publication;
    if (bucket === undefined || publication === undefined) return textResponse(404, "Not found.");
    requested.bucket = bucket.name;
    requested.key = address.key || undefined;
    const rules = bucket.settings.cors ?? [];
    if (request.method === "OPTIONS") {
      const headers = preflightHeaders(rules, request);
      if (headers !== undefined) return answer(204, headers);
    }
    const cors = corsResponseHeaders(rules, request);
    if (request.method !== "GET" && request.method !== "HEAD")
      return textResponse(405, "This can be read, and nothing else.", [["allow", "GET, HEAD"], ...cors]);
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
        return textResponse(302, "See the folder.", [["location", folderRedirect(request)], ...cors]);
    }
    return notFound(publicRequest);
  }

  /** One whose key cannot be is not there. */
  async function findRecord(bucket: string, key: string): Promise<ObjectRecord | undefined> {
    try {
      return await engine.head(bucket, key);
    } catch (error) {
      if (error instanceof StoreError && error.reason === "InvalidObjectName") return undefined;
      throw error;
    }
  }

  async function notFound({ bucket, publication, cors, request }: PublicRequest): Promise<HttpResponse> {
    const key = publication.notFound;
    const record = key === undefined ? undefined : await findRecord(bucket.name, key);
    if (record === undefined || record.encryption !== undefined) return textResponse(404, "Not found.", cors);
    const headers = [...objectHeaders(record, publication), ...cors];
    if (request.method === "HEAD") return answer(404, [...headers, contentLengthHeader(record.size)]);
    const outcome = await engine.get(bucket.name, record.key);
    return outcome.outcome === "found"
      ? answer(404, headers, toBody(outcome))
      : textResponse(404, "Not found.", cors);
  }

  async function showObject(publicRequest: PublicRequest, record: ObjectRecord): Promise<HttpResponse> {
    const { request, bucket, publication, cors } = publicRequest;
    if (record.encryption !== undefined)
      return textResponse(
        403,
        "This was stored under a key of its owner's, and cannot be shown without it.",
        cors,
      );
    const condition = readCondition(request);
    if (condition === undefined) return textResponse(400, "An etag in a condition is not valid.", cors);
    const range = ifRangeMatches(request, record)
      ? rangeFromHeader(request.header("range") ?? null)
      : undefined;
    try {
      const outcome =
        request.method === "HEAD"
          ? withoutBytes(await engine.describe(bucket.name, record.key, { condition }), range)
          : await engine.get(bucket.name, record.key, { condition, range });
      if (outcome.outcome === "missing") return notFound(publicRequest);
      if (outcome.outcome === "refused")
        return refusedResponse(outcome.clause, outcome.record, publicRequest);
      const { size } = outcome.record;
      const headers = [...objectHeaders(outcome.record, publication), ...cors];
      if (range !== undefined) headers.push(contentRangeHeader(size, outcome.range));
      if (outcome.bytes === undefined) headers.push(contentLengthHeader(outcome.range.length));
      return answer(range === undefined ? 200 : 206, headers, toBody(outcome));
    } catch (error) {
      if (!(error instanceof StoreError && error.reason === "InvalidRange")) throw error;
      const size: [string, string] = ["content-range", `bytes */${record.size}`];
      return textResponse(416, "There are no such bytes.", [size, ...cors]);
    }
  }

  return withExchangeReport(async (request, requested) => {
    try {
      return await handle(request, requested);
    } catch (error) {
      log(`A public request failed: ${error instanceof Error ? error.message : String(error)}`);
      const status = error instanceof StoreError ? statusByReason[error.reason] : 500;
      return textResponse(status, failureMessages[status] ?? "The server could not answer this request.");
    }
  }, onExchange);
}

const failureMessages: Readonly<Record<number, string>> = { 404: "Not found.", 503: "Try again later." };

type FoundObject = Extract<GetOutcome, { outcome: "found" }>;

function toBody({ bytes }: { readonly bytes: FoundObject["bytes"] | undefined }): HttpBody {
  return bytes === undefined ? null : (bytes.inline ?? bytes);
}

/** The outcome of the same GET for a HEAD. Throws InvalidRange like the engine. */
function withoutBytes(outcome: DescribeOutcome, range: RangeRequest | undefined) {
  if (outcome.outcome !== "found") return outcome;
  return { ...outcome, range: resolveRange(range, outcome.record.size), bytes: undefined };
}

function contentRangeHeader(size: number, { offset, length }: ByteRange): [string, string] {
  return ["content-range", `bytes ${offset}-${offset + length - 1}/${size}`];
}

function contentLengthHeader(size: number): [string, string] {
  return ["content-length", String(size)];
}

/** Undefined when it cannot be read. */
function readCondition(request: HttpRequest): Condition | undefined {
  try {
    return conditionFromHeaders({ get: (name) => request.header(name) ?? null });
  } catch {
    return undefined;
  }
}

/** Whether what is to be continued is still what was begun (RFC 9110 13.1.5). */
function ifRangeMatches(request: HttpRequest, { etag, uploaded }: ObjectRecord): boolean {
  const given = request.header("if-range")?.trim();
  if (given === undefined || given === `"${etag}"`) return true;
  const time = parseHttpDate(given);
  return time !== undefined && time === Math.floor(uploaded / 1000) * 1000;
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
    // What is no page is never taken for one by a browser that guesses.
    ["x-content-type-options", "nosniff"],
    ...stored,
    ...(has("content-type") ? [] : ([["content-type", "application/octet-stream"]] as [string, string][])),
    ...(publication.cacheControl === undefined || has("cache-control") || has("expires")
      ? []
      : ([["cache-control", publication.cacheControl]] as [string, string][])),
  ];
}

/** By its last step alone: a whole path that begins with two slashes would name another host. */
function folderRedirect({ target }: HttpRequest): string {
  const { rawPath, rawQuery } = splitTarget(target);
  const last = rawPath.slice(rawPath.lastIndexOf("/") + 1);
  return `./${last}/${rawQuery === "" ? "" : `?${rawQuery}`}`;
}

function answer(status: number, headers: Headers, body: HttpBody = null): HttpResponse {
  return { status, headers, body };
}

function textResponse(status: number, message: string, headers: Headers = []): HttpResponse {
  const own: Headers = [
    ["content-type", "text/plain; charset=utf-8"],
    ["x-content-type-options", "nosniff"],
  ];
  return answer(status, [...own, ...headers], `${message}\n`);
}
