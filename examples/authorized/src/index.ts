// A bucket exposed over HTTP with authorization: writing needs a pre-shared key, reading is open for a fixed
// list of keys, everything else is forbidden.
import type { StoreBucket } from "store-server";

interface Env {
  BUCKET: StoreBucket;
  AUTH_KEY_SECRET?: string;
}

const ALLOW_LIST = ["cat-pic.jpg"];

async function authorizeRequest(request: Request, env: Env, key: string): Promise<boolean> {
  switch (request.method) {
    case "PUT":
    case "DELETE":
      return hasValidHeader(request, env);
    case "GET":
      return ALLOW_LIST.includes(key);
    default:
      return false;
  }
}

/** An unset secret is never equal to a missing header, and the comparison tells nothing by its time. */
async function hasValidHeader(request: Request, env: Env): Promise<boolean> {
  const given = request.headers.get("X-Custom-Auth-Key");
  if (given === null || !env.AUTH_KEY_SECRET) return false;
  return crypto.subtle.timingSafeEqual(await digest(given), await digest(env.AUTH_KEY_SECRET));
}

async function digest(text: string): Promise<ArrayBuffer> {
  return crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const key = new URL(request.url).pathname.slice(1);
    if (!(await authorizeRequest(request, env, key))) return new Response("Forbidden", { status: 403 });

    switch (request.method) {
      case "PUT": {
        await env.BUCKET.put(key, request.body);
        return new Response(`Put ${key} successfully!`);
      }
      case "GET": {
        const object = await env.BUCKET.get(key);
        if (object === null) return new Response("Object Not Found", { status: 404 });
        const headers = new Headers();
        object.writeHttpMetadata(headers);
        headers.set("etag", object.httpEtag);
        return new Response(object.body, { headers });
      }
      case "DELETE": {
        await env.BUCKET.delete(key);
        return new Response("Deleted!");
      }
      default:
        return new Response("Method Not Allowed", { status: 405, headers: { Allow: "PUT, GET, DELETE" } });
    }
  },
};
