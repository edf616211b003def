// Read-only access to a bucket behind HTTP Basic authentication (RFC 7617).
import type { StoreBucket } from "store-server";

interface Env {
  BUCKET: StoreBucket;
  USERNAME: string;
  PASSWORD?: string;
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    if (!(await isAuthorized(request, env))) {
      return new Response("Unauthorized", {
        status: 401,
        headers: { "WWW-Authenticate": 'Basic realm="bucket", charset="UTF-8"' },
      });
    }
    if (request.method !== "GET") {
      return new Response("Method Not Allowed", { status: 405, headers: { Allow: "GET" } });
    }
    const object = await env.BUCKET.get(new URL(request.url).pathname.slice(1));
    if (object === null) return new Response("Object Not Found", { status: 404 });
    const headers = new Headers({ etag: object.httpEtag });
    object.writeHttpMetadata(headers);
    return new Response(object.body, { headers });
  },
};

async function isAuthorized(request: Request, env: Env): Promise<boolean> {
  const [scheme, credentials] = (request.headers.get("Authorization") ?? "").split(" ");
  if (scheme?.toLowerCase() !== "basic" || credentials === undefined || !env.PASSWORD) return false;
  const given = decode(credentials);
  const wanted = `${env.USERNAME}:${env.PASSWORD}`;
  return given !== undefined && crypto.subtle.timingSafeEqual(await digest(given), await digest(wanted));
}

/** Undefined for what is no base64. */
function decode(credentials: string): string | undefined {
  try {
    return new TextDecoder().decode(Uint8Array.from(atob(credentials), (char) => char.charCodeAt(0)));
  } catch {
    return undefined;
  }
}

async function digest(text: string): Promise<ArrayBuffer> {
  return crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
}
