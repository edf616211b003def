// The response for an asset: the whole file, a range, or 304 when the client's copy is current.
import { rangeFromHeader } from "../../http/headers.ts";
import type { HttpResponse } from "../../http/server/listen.ts";
import { StoreError } from "../../model/errors.ts";
import { type ByteRange, resolveRange } from "../../model/range.ts";
import type { AssetContent, AssetContents } from "./asset-contents.ts";
import type { AssetFile } from "./asset-directory.ts";
import type { AssetRequest } from "./asset-request.ts";

type HeaderPair = readonly [string, string];

export interface ServedAsset {
  readonly asset: AssetFile;
  readonly status: 200 | 404;
  readonly contents: AssetContents;
}

export function emptyResponse(status: number, headers: readonly HeaderPair[] = []): HttpResponse {
  return { status, headers, body: null };
}

/** Undefined when the file is gone. Returns synchronously when the content is in memory. */
export function assetResponse(
  request: AssetRequest,
  served: ServedAsset,
): HttpResponse | Promise<HttpResponse | undefined> {
  const content = served.contents.read(served.asset);
  if (content instanceof Promise || content?.bytes === undefined)
    return awaitResponse(request, served, content);
  return contentResponse(request, served, content) as HttpResponse;
}

/** Maximum number of attempts if the file changes between reading its etag and opening it. */
const maxAttempts = 5;

async function awaitResponse(
  request: AssetRequest,
  served: ServedAsset,
  first: ReturnType<AssetContents["read"]>,
): Promise<HttpResponse | undefined> {
  let content = await first;
  for (let attempt = 1; content !== undefined; attempt++) {
    const response = await contentResponse(request, served, content);
    if (response !== undefined) return response;
    if (attempt === maxAttempts) throw new Error(`${served.asset.file} changes all the time.`);
    content = await served.contents.read(served.asset);
  }
  return undefined;
}

/** Undefined when the file has changed since the content was read. */
function contentResponse(
  request: AssetRequest,
  { asset, status, contents }: ServedAsset,
  content: AssetContent,
): HttpResponse | Promise<HttpResponse | undefined> {
  const { etag, size } = content;
  const headers = headersFor(request, asset, etag);
  if (status === 200) {
    const condition = failedCondition(request, etag);
    if (condition !== undefined) return emptyResponse(condition, headers);
  }
  const range = status === 200 ? requestedRange(request, content) : undefined;
  if (range === "unsatisfiable")
    return emptyResponse(416, [...headers, ["content-range", `bytes */${size}`]]);
  const { offset, length } = range ?? { offset: 0, length: size };
  if (range !== undefined) headers.push(["content-range", `bytes ${offset}-${offset + length - 1}/${size}`]);
  const responseStatus = range === undefined ? status : 206;
  if (request.method === "HEAD") {
    return emptyResponse(responseStatus, [...headers, ["content-length", String(length)]]);
  }
  const body = contents.open(asset, content, { offset, length });
  if (!(body instanceof Promise)) return { status: responseStatus, headers, body };
  return body.then((source) =>
    source === undefined ? undefined : { status: responseStatus, headers, body: source },
  );
}

function headersFor(request: AssetRequest, { contentType }: AssetFile, etag: string): HeaderPair[] {
  const headers: HeaderPair[] = [
    ["etag", etag],
    ["accept-ranges", "bytes"],
  ];
  if (contentType !== undefined) headers.push(["content-type", contentType]);
  const isCacheable = request.header("authorization") === undefined && request.header("range") === undefined;
  if (isCacheable) headers.push(["cache-control", "public, max-age=0, must-revalidate"]);
  return headers;
}

/** The status for a precondition that fails (RFC 9110 13.2.2). */
function failedCondition({ header }: AssetRequest, etag: string): 304 | 412 | undefined {
  const match = header("if-match");
  if (match !== undefined && !listsEtag(match, etag)) return 412;
  const noneMatch = header("if-none-match");
  if (noneMatch === undefined) return undefined;
  // If-None-Match compares weakly: the prefix W/ is ignored.
  return listsEtag(noneMatch.replaceAll("W/", ""), etag) ? 304 : undefined;
}

function listsEtag(list: string, etag: string): boolean {
  return list.trim() === "*" || list.split(",").some((one) => one.trim() === etag);
}

function requestedRange(
  { header, method }: AssetRequest,
  { etag, size }: AssetContent,
): ByteRange | "unsatisfiable" | undefined {
  const range = rangeFromHeader(header("range") ?? null);
  if (range === undefined || method !== "GET") return undefined;
  const ifRange = header("if-range");
  if (ifRange !== undefined && ifRange.trim() !== etag) return undefined;
  try {
    return resolveRange(range, size);
  } catch (error) {
    if (error instanceof StoreError && error.reason === "InvalidRange") return "unsatisfiable";
    throw error;
  }
}
