// A bucket exposed over HTTP: the object's key is the path without its leading slash. Whoever can reach this
// script can read, write and delete every object: see ../../authorized for one that asks first.
import type { StoreBucket } from "store-server";

interface Env {
  BUCKET: StoreBucket;
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const key = new URL(request.url).pathname.slice(1);

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
