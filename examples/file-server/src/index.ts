// A file server over a bucket: ranges, conditional requests and caching (200, 206, 304, 412, 416).
import type { StoreBucket, StoreObject, StoreObjectBody } from "store-server";

interface Env {
  FILES: StoreBucket;
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    if (request.method !== "GET" && request.method !== "HEAD") {
      return new Response("Method Not Allowed", { status: 405, headers: { Allow: "GET, HEAD" } });
    }
    const key = keyOf(request);
    if (key === undefined) return new Response("Bad Request", { status: 400 });
    try {
      const range = (await mayResume(request, env, key)) ? request.headers : undefined;
      const object = await env.FILES.get(key, { onlyIf: request.headers, range });
      if (object === null) return new Response("Object Not Found", { status: 404 });
      const headers = headersOf(object);
      if (!("body" in object)) return new Response(null, { status: refusedStatus(request, object), headers });
      return found(request, object, headers);
    } catch (error) {
      // An If-Match that is no list of etags.
      if (error instanceof TypeError) return new Response("Bad Request", { status: 400 });
      if ((error as { code?: number }).code !== 10039) throw error;
      const size = (await env.FILES.head(key))?.size ?? 0;
      return new Response("Range Not Satisfiable", {
        status: 416,
        headers: { "Content-Range": `bytes */${size}` },
      });
    }
  },
};

/** The path, with an index for folders; undefined for a path that spells no text. */
function keyOf(request: Request): string | undefined {
  try {
    const path = decodeURIComponent(new URL(request.url).pathname.slice(1));
    return path === "" || path.endsWith("/") ? `${path}index.html` : path;
  } catch {
    return undefined;
  }
}

/** With If-Range, a range is only wanted of the very version the client has a part of (RFC 9110 13.1.5). */
async function mayResume(request: Request, env: Env, key: string): Promise<boolean> {
  const wanted = request.headers.get("If-Range");
  if (wanted === null) return true;
  const current = await env.FILES.head(key);
  return current?.httpEtag === wanted || current?.uploaded.toUTCString() === wanted;
}

function headersOf(object: StoreObject): Headers {
  const headers = new Headers({ "Accept-Ranges": "bytes", "Cache-Control": "public, max-age=60" });
  object.writeHttpMetadata(headers);
  headers.set("ETag", object.httpEtag);
  headers.set("Last-Modified", object.uploaded.toUTCString());
  return headers;
}

function found(request: Request, object: StoreObjectBody, headers: Headers): Response {
  const { offset, length } = { offset: 0, length: object.size, ...object.range };
  const isPart = request.headers.has("Range") && length < object.size;
  if (isPart) headers.set("Content-Range", `bytes ${offset}-${offset + length - 1}/${object.size}`);
  return new Response(object.body, { status: isPart ? 206 : 200, headers });
}

/** A caller whose precondition failed is told that; a cache that has the object is told so. */
function refusedStatus(request: Request, object: StoreObject): number {
  const match = request.headers.get("If-Match");
  if (match !== null) return match.trim() === "*" || match.includes(object.httpEtag) ? 304 : 412;
  const unmodifiedSince = Date.parse(request.headers.get("If-Unmodified-Since") ?? "");
  return Math.floor(object.uploaded.getTime() / 1000) * 1000 > unmodifiedSince ? 412 : 304;
}
