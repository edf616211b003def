// A file server over a bucket: ranges, conditional requests and caching (200, 206, 304, 412, 416).
import type { StoreBucket, StoreObject, StoreObjectBody } from "store";

interface Env {
  FILES: StoreBucket;
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    if (request.method !== "GET" && request.method !== "HEAD") {
      return new Response("Method Not Allowed", { status: 405, headers: { Allow: "GET, HEAD" } });
    }
    const path = decodeURIComponent(new URL(request.url).pathname.slice(1));
    const key = path === "" || path.endsWith("/") ? `${path}index.html` : path;
    try {
      const object = await env.FILES.get(key, { onlyIf: request.headers, range: request.headers });
      if (object === null) return new Response("Object Not Found", { status: 404 });
      const headers = headersOf(object);
      if (!("body" in object)) return new Response(null, { status: refusedStatus(request), headers });
      return found(request, object, headers);
    } catch (error) {
      if ((error as { code?: number }).code !== 10039) throw error;
      const size = (await env.FILES.head(key))?.size ?? 0;
      return new Response("Range Not Satisfiable", {
        status: 416,
        headers: { "Content-Range": `bytes */${size}` },
      });
    }
  },
};

function headersOf(object: StoreObject): Headers {
  const headers = new Headers({ "Accept-Ranges": "bytes", "Cache-Control": "public, max-age=60" });
  object.writeHttpMetadata(headers);
  headers.set("ETag", object.httpEtag);
  headers.set("Last-Modified", object.uploaded.toUTCString());
  return headers;
}

function found(request: Request, object: StoreObjectBody, headers: Headers): Response {
  const { offset, length } = object.range;
  const isPart = request.headers.has("Range") && length < object.size;
  if (isPart) headers.set("Content-Range", `bytes ${offset}-${offset + length - 1}/${object.size}`);
  return new Response(object.body, { status: isPart ? 206 : 200, headers });
}

/** A cache that has the object is told so; a caller whose precondition failed is told that. */
function refusedStatus(request: Request): number {
  return request.headers.has("If-Match") || request.headers.has("If-Unmodified-Since") ? 412 : 304;
}
