// TypeScript code in the style of public scripts that use the R2 binding, and declarations of its
// type names with the types of this package.

/** A script that compiles with @cloudflare/workers-types and also with `idiomTypes`. */
export const idioms = `import type { StorePresigningBucket } from "store-server";

interface Env {
  BUCKET: R2Bucket;
  TOKEN: string;
}

/** Declares its environment like a router with typed bindings. */
class Router<E extends { Bindings: object }> {
  get(_path: string, _handler: (c: { env: E["Bindings"]; req: Request }) => Promise<Response>): this {
    return this;
  }
}
type Bindings = { BUCKET: R2Bucket };
export const router = new Router<{ Bindings: Bindings }>().get("/:key", async (c) => {
  const object = await c.env.BUCKET.get("key");
  return object ? new Response(object.body) : new Response(null, { status: 404 });
});

async function listAll(bucket: R2Bucket): Promise<R2Object[]> {
  const options: R2ListOptions = { limit: 500, include: ["customMetadata"] };
  const listed = await bucket.list(options);
  let truncated = listed.truncated;
  let cursor = listed.truncated ? listed.cursor : undefined;
  while (truncated) {
    const next = await bucket.list({ ...options, ...(cursor === undefined ? {} : { cursor }) });
    listed.objects.push(...next.objects);
    truncated = next.truncated;
    cursor = next.truncated ? next.cursor : undefined;
  }
  return listed.objects;
}

async function listLoop(bucket: R2Bucket): Promise<string[]> {
  const keys: string[] = [];
  let listed = await bucket.list({ prefix: "a/", delimiter: "/" });
  keys.push(...listed.delimitedPrefixes);
  while (listed.truncated) {
    const cursor: string = listed.cursor;
    listed = await bucket.list({ cursor });
    keys.push(...listed.objects.map(({ key }) => key));
  }
  return keys;
}

function hasBody(object: R2Object | R2ObjectBody): object is R2ObjectBody {
  return (object as R2ObjectBody).body !== undefined;
}

function contentRange(object: R2ObjectBody): string | undefined {
  if (object.range === undefined) return undefined;
  if ("suffix" in object.range) return String(object.size - object.range.suffix);
  const start = object.range.offset ?? 0;
  const length = object.range.length ?? object.size - start;
  return \`bytes \${start}-\${start + length - 1}/\${object.size}\`;
}

async function read(request: Request, env: Env, key: string): Promise<Response> {
  const object = await env.BUCKET.get(key, { range: request.headers, onlyIf: request.headers });
  if (object === null) return new Response("Object Not Found", { status: 404 });
  const headers = new Headers();
  object.writeHttpMetadata(headers);
  headers.set("etag", object.httpEtag);
  if (!("body" in object)) return new Response(null, { status: 304, headers });
  const range = contentRange(object);
  if (range) headers.set("content-range", range);
  return new Response(object.body, { headers, status: request.headers.get("range") !== null ? 206 : 200 });
}

async function readPart(bucket: R2Bucket, range: R2Range): Promise<ArrayBuffer | undefined> {
  const object: R2ObjectBody | null = await bucket.get("key", { range });
  const json: { name: string } | undefined = await object?.json<{ name: string }>();
  if (json) console.log(json.name, object?.customMetadata?.author, object?.httpMetadata?.contentType);
  const checked = await bucket.get("key", { onlyIf: { etagMatches: "x", uploadedBefore: new Date() } });
  if (checked && hasBody(checked)) return checked.arrayBuffer();
  return undefined;
}

async function write(request: Request, env: Env, key: string): Promise<R2Object> {
  const created: R2Object | null = await env.BUCKET.put(key, "", { onlyIf: { etagDoesNotMatch: "*" } });
  if (created) console.log(created.checksums.toJSON().md5);
  const httpMetadata: R2HTTPMetadata = { contentType: "text/plain", cacheExpiry: new Date() };
  const options: R2PutOptions = { httpMetadata, customMetadata: { author: "Ada" }, storageClass: "Standard" };
  await env.BUCKET.put(key, await request.arrayBuffer(), options);
  await env.BUCKET.put(key, null);
  const stored = await env.BUCKET.put(key, request.body, { httpMetadata: request.headers });
  const { key: name, size, uploaded, version } = stored!;
  console.log(name, size.toFixed(), uploaded.toISOString(), version);
  await env.BUCKET.delete([key, "other"]);
  return stored!;
}

async function upload(request: Request, env: Env, key: string): Promise<Response> {
  const url = new URL(request.url);
  if (url.searchParams.get("action") === "create") {
    const { key: name, uploadId } = await env.BUCKET.createMultipartUpload(key, {
      customMetadata: { user: "ada" },
    });
    return Response.json({ key: name, uploadId });
  }
  const multipart: R2MultipartUpload = env.BUCKET.resumeMultipartUpload(key, url.searchParams.get("id") ?? "");
  const parts: R2UploadedPart[] = [];
  try {
    for (const [index, chunk] of [new Uint8Array(5), new Uint8Array(3)].entries()) {
      parts.push(await multipart.uploadPart(index + 1, chunk));
    }
    if (request.body) parts.push(await multipart.uploadPart(3, request.body));
    const object = await multipart.complete(parts);
    return new Response(null, { headers: { etag: object.httpEtag } });
  } catch {
    await multipart.abort();
    return new Response("Failed", { status: 400 });
  }
}

declare const bucket: StorePresigningBucket;
export const listings = [listAll(bucket), listLoop(bucket), readPart(bucket, { offset: 1 })];

export default {
  async fetch(request, env, ctx): Promise<Response> {
    const key = new URL(request.url).pathname.slice(1);
    ctx.waitUntil(env.BUCKET.put("last", key));
    if (request.method === "PUT") return Response.json(await write(request, env, key));
    if (request.method === "POST") return upload(request, env, key);
    return read(request, env, key);
  },
  async scheduled(controller, env) {
    for (const { key, uploaded } of await listAll(env.BUCKET)) {
      if (uploaded.getTime() < controller.scheduledTime) await env.BUCKET.delete(key);
    }
  },
} satisfies ExportedHandler<Env>;
`;

/** A declaration file without imports, so that its names are global. */
export const idiomTypes = `type R2Bucket = import("store-server").StoreBucket;
type R2Object = import("store-server").StoreObject;
type R2ObjectBody = import("store-server").StoreObjectBody;
type R2Objects = import("store-server").StoreObjects;
type R2Range = import("store-server").StoreRange;
type R2HTTPMetadata = import("store-server").StoreHTTPMetadata;
type R2MultipartUpload = import("store-server").StoreMultipartUpload;
type R2UploadedPart = import("store-server").StoreUploadedPart;
type R2ListOptions = import("store-server").StoreListOptions;
type R2PutOptions = import("store-server").StorePutOptions;
type ExportedHandler<Env> = import("store-server").StoreScript<Env>;
`;
