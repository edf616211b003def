// Every request must carry a pre-shared key in a header of our choosing.
import type { StoreBucket } from "store-server";

interface Env {
  BUCKET: StoreBucket;
  PRE_SHARED_KEY?: string;
}

const HEADER = "X-Pre-Shared-Key";

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    if (!(await hasKey(request, env))) return new Response("Forbidden", { status: 403 });
    const key = new URL(request.url).pathname.slice(1);
    if (request.method === "PUT") {
      const { etag } = await env.BUCKET.put(key, request.body);
      return Response.json({ key, etag }, { status: 201 });
    }
    if (request.method === "GET") {
      const object = await env.BUCKET.get(key);
      return object === null ? new Response("Object Not Found", { status: 404 }) : new Response(object.body);
    }
    return new Response("Method Not Allowed", { status: 405, headers: { Allow: "PUT, GET" } });
  },
};

async function hasKey(request: Request, env: Env): Promise<boolean> {
  const given = request.headers.get(HEADER);
  if (given === null || !env.PRE_SHARED_KEY) return false;
  const encode = (text: string) => crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return crypto.subtle.timingSafeEqual(await encode(given), await encode(env.PRE_SHARED_KEY));
}
