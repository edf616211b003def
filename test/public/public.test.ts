// Public buckets over HTTP: reads, conditions, ranges, index documents, domains, CORS and refusals.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Engine } from "../../src/engine/engine.ts";
import { defaultPortLimits } from "../../src/http/server/limits.ts";
import { StoreError } from "../../src/model/errors.ts";
import type { HttpMetadata } from "../../src/model/object.ts";
import type { Publication } from "../../src/model/settings/publication.ts";
import { openEngine } from "../../src/open.ts";
import { publish } from "../../src/public/publications.ts";
import { startPublic } from "../../src/public/server.ts";
import { type Answer, type Asked, ask } from "../script/client.ts";
import { until } from "../script/inside.ts";
import { sampleBytes } from "../support/bytes.ts";

interface Scene {
  readonly engine: Engine;
  publish(publication?: Publication, bucket?: string): Promise<void>;
  /** Publishes without the names of the server. */
  publishOutside(publication: Publication, bucket: string): Promise<unknown>;
  unpublish(): Promise<void>;
  put(key: string, content: string | Uint8Array, httpMetadata?: HttpMetadata): Promise<void>;
  get(path: string, asked?: Asked): Promise<Answer>;
}

const serverNames = { names: ["store.example.net"], bases: ["localhost", "public.example.net"] };

async function openScene(t: TestContext): Promise<Scene> {
  const { engine, documents } = await openEngine("memory:");
  for (const name of ["site", "other"]) await engine.createBucket(name);
  const server = await startPublic({
    ...{ engine, documents, host: "127.0.0.1", port: 0, serverNames, opens: "at once" },
    ...{
      tls: undefined,
      trusted: [],
      limits: defaultPortLimits,
      probe: "",
      log: () => {},
      onOpened: () => {},
      describeError: String,
    },
  });
  t.after(async () => {
    await server.close();
    await engine.close();
  });
  return {
    engine,
    async publish(publication = {}, bucket = "site") {
      await publish({ engine, documents, serverNames }, bucket, publication);
    },
    publishOutside: (publication, bucket) => publish({ engine, documents }, bucket, publication),
    async unpublish() {
      await publish({ engine, documents }, "site", undefined);
    },
    async put(key, content, httpMetadata = {}) {
      const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
      await engine.put("site", key, bytes, { httpMetadata });
    },
    get: (path, asked = {}) => ask(server.port!, { path, ...asked }),
  };
}

test("GET and HEAD of an object in a public bucket return its metadata as headers", async (t) => {
  const { put, publish, get } = await openScene(t);
  await publish({ cacheControl: "max-age=60" });
  await put("a b/ü.txt", "hello", { contentType: "text/plain", contentLanguage: "en" });
  await put("own", "hello", { cacheControl: "no-store" });
  const { status, headers, text } = await get("/site/a%20b/%C3%BC.txt");
  assert.deepEqual([status, text], [200, "hello"]);
  assert.equal(headers.etag, '"5d41402abc4b2a76b9719d911017c592"');
  assert.equal(headers["content-type"], "text/plain");
  assert.equal(headers["content-language"], "en");
  assert.equal(headers["content-length"], "5");
  assert.equal(headers["cache-control"], "max-age=60");
  assert.equal(headers["accept-ranges"], "bytes");
  assert.equal(headers["x-content-type-options"], "nosniff");
  assert.ok(Number.isFinite(Date.parse(headers["last-modified"]!)));
  const own = await get("/site/own");
  assert.equal(own.headers["cache-control"], "no-store");
  assert.equal(own.headers["content-type"], "application/octet-stream");
  const head = await get("/site/a%20b/%C3%BC.txt", { method: "HEAD" });
  assert.deepEqual([head.status, head.text, head.headers["content-length"]], [200, "", "5"]);
  assert.equal(head.headers.etag, headers.etag);
});

test("a private or unpublished bucket gets the same 404 as a missing bucket", async (t) => {
  const { put, publish, unpublish, get } = await openScene(t);
  await put("a", "hello");
  const absent = await get("/never/a");
  const summary = ({ status, text, headers }: Answer) => [status, text, headers["content-type"]];
  assert.deepEqual(summary(absent), [404, "Not found.\n", "text/plain; charset=utf-8"]);
  assert.deepEqual(summary(await get("/site/a")), summary(absent));
  assert.deepEqual(summary(await get("/site/a", { method: "PUT", body: "x" })), summary(absent));
  assert.deepEqual(summary(await get("/")), summary(absent));
  await publish();
  assert.equal((await get("/site/a")).status, 200);
  assert.deepEqual(summary(await get("/site/b")), summary(absent));
  await unpublish();
  assert.deepEqual(summary(await get("/site/a")), summary(absent));
});

test("a public bucket maps every engine error to the HTTP status of its reason", async (t) => {
  const scene = await openScene(t);
  await scene.publish();
  for (const [reason, status] of [
    ["Damaged", 500],
    ["InternalError", 500],
    ["NoSuchBucket", 404],
    ["ServiceUnavailable", 503],
  ] as const) {
    Object.assign(scene.engine, { head: () => Promise.reject(new StoreError(reason)) });
    assert.equal((await scene.get("/site/key")).status, status, reason);
  }
});

test("methods other than GET and HEAD on a public bucket are refused with 405", async (t) => {
  const { put, publish, get, engine } = await openScene(t);
  await put("a", "hello");
  await publish();
  for (const method of ["PUT", "POST", "DELETE", "PATCH", "OPTIONS", "PROPFIND"]) {
    const { status, headers } = await get("/site/a", { method });
    assert.deepEqual([status, headers.allow], [405, "GET, HEAD"], method);
  }
  assert.equal((await engine.head("site", "a"))?.size, 5);
});

test("GET from a public bucket honours Range, If-Range and conditions", async (t) => {
  const { put, publish, get, engine } = await openScene(t);
  await publish();
  const bytes = sampleBytes(200_000);
  await put("large", bytes);
  const { etag } = (await engine.head("site", "large"))!;
  const part = await get("/site/large", { headers: { range: "bytes=100000-100099" } });
  assert.deepEqual([part.status, part.headers["content-range"]], [206, "bytes 100000-100099/200000"]);
  assert.deepEqual(part.bytes, Buffer.from(bytes.subarray(100_000, 100_100)));
  const last = await get("/site/large", { headers: { range: "bytes=-10" } });
  assert.deepEqual([last.status, last.bytes.length], [206, 10]);
  const whole = await get("/site/large", { headers: { range: "bytes=0-" } });
  assert.deepEqual([whole.status, whole.headers["content-range"]], [206, "bytes 0-199999/200000"]);
  const beyond = await get("/site/large", { headers: { range: "bytes=200000-" } });
  assert.deepEqual([beyond.status, beyond.headers["content-range"]], [416, "bytes */200000"]);
  const changed = await get("/site/large", { headers: { range: "bytes=0-9", "if-range": '"other"' } });
  assert.deepEqual([changed.status, changed.bytes.length], [200, 200_000]);
  const same = await get("/site/large", { headers: { range: "bytes=0-9", "if-range": `"${etag}"` } });
  assert.deepEqual([same.status, same.bytes.length], [206, 10]);
  for (const method of ["GET", "HEAD"]) {
    const known = await get("/site/large", { method, headers: { "if-none-match": `W/"${etag}", "x"` } });
    assert.deepEqual([known.status, known.text, known.headers.etag], [304, "", `"${etag}"`]);
    const other = await get("/site/large", { method, headers: { "if-match": '"other"' } });
    assert.deepEqual([other.status, other.text], [412, ""]);
    const since = new Date(Date.now() + 1000).toUTCString();
    assert.equal((await get("/site/large", { method, headers: { "if-modified-since": since } })).status, 304);
  }
  assert.equal((await get("/site/large", { headers: { "if-match": "nonsense" } })).status, 400);
});

test("HEAD with a range returns the status and headers of the same GET, without a body", async (t) => {
  const { put, publish, get, engine } = await openScene(t);
  await publish();
  await put("digits", "0123456789");
  await put("empty", "");
  const { etag } = (await engine.head("site", "digits"))!;
  const names = ["content-range", "content-length", "content-type", "etag", "accept-ranges"];
  const conditions = [{}, { "if-range": '"other"' }, { "if-none-match": `"${etag}"` }];
  for (const range of [
    "bytes=0-3",
    "bytes=-4",
    "bytes=0-",
    "bytes=10-",
    "bytes=-0",
    "bytes=5-2",
    "bytes=0-1,3-4",
  ]) {
    for (const path of ["/site/digits", "/site/empty"]) {
      for (const condition of conditions) {
        const headers = { range, ...condition };
        const head = await get(path, { method: "HEAD", headers });
        const got = await get(path, { headers });
        const shown = (answer: Answer) => [answer.status, ...names.map((name) => answer.headers[name])];
        assert.deepEqual(shown(head), shown(got), `${path} ${JSON.stringify(headers)}`);
        assert.equal(head.text, "");
      }
    }
  }
  const part = await get("/site/digits", { method: "HEAD", headers: { range: "bytes=0-3" } });
  assert.deepEqual(
    [part.status, part.headers["content-range"], part.headers["content-length"]],
    [206, "bytes 0-3/10", "4"],
  );
});

test("a public folder returns its index document, and a missing key returns the not-found document", async (t) => {
  const { put, publish, get } = await openScene(t);
  await publish({ index: "index.html", notFound: "404.html" });
  await put("index.html", "home", { contentType: "text/html" });
  await put("docs/index.html", "docs", { contentType: "text/html" });
  await put("404.html", "nothing here", { contentType: "text/html" });
  assert.equal((await get("/site/")).text, "home");
  assert.equal((await get("/site")).text, "home");
  assert.equal((await get("/site/docs/")).text, "docs");
  const moved = await get("/site/docs?x=1");
  assert.deepEqual([moved.status, moved.headers.location], [302, "./docs/?x=1"]);
  const absent = await get("/site/docs/more");
  assert.deepEqual([absent.status, absent.text], [404, "nothing here"]);
  assert.equal(absent.headers["content-type"], "text/html");
  const head = await get("/site/more", { method: "HEAD" });
  assert.deepEqual([head.status, head.text, head.headers["content-length"]], [404, "", "12"]);
});

test("a key on the public port is decoded once, and dot segments and slashes in it are kept", async (t) => {
  const { put, publish, get } = await openScene(t);
  await publish();
  const keys = ["../other/a", "a/../b", "/leading", "a//b", "%2e%2e", "a+b", "a?b#c", "docs/./x"];
  for (const key of keys) await put(key, `it is ${key}`);
  for (const key of keys) {
    assert.equal((await get(`/site/${encodeURIComponent(key)}`)).text, `it is ${key}`, key);
  }
  assert.equal((await get("/site/a/../b")).text, "it is a/../b");
  assert.equal((await get("/site//leading?query")).text, "it is /leading");
  assert.equal((await get("/site/../other/a")).text, "it is ../other/a");
  assert.equal((await get("/site/%ff")).status, 400);
  assert.equal((await get(`/site/${"x".repeat(2000)}`)).status, 404);
});

test("the redirect of a public bucket to a folder never leads to another host", async (t) => {
  const { put, publish, get } = await openScene(t);
  await publish({ index: "index.html", domains: ["site.example.com"] });
  await put("/evil.example/index.html", "x");
  const { status, headers } = await get("//evil.example", { headers: { host: "site.example.com" } });
  assert.equal(status, 302);
  assert.equal(new URL(headers.location!, "http://site.example.com//evil.example").host, "site.example.com");
});

test("a public bucket is served on its subdomain and on its own domain", async (t) => {
  const { put, publish, get } = await openScene(t);
  await put("site/a", "hello");
  await publish({ domains: ["files.example.com"] });
  const from = (host: string) => get("/site/a", { headers: { host } });
  assert.equal((await from("site.localhost:9002")).text, "hello");
  assert.equal((await from("FILES.example.com")).text, "hello");
  assert.equal((await from("other.localhost")).status, 404);
  assert.equal((await from("127.0.0.1")).status, 404, "a path-style request has another key");
  await assert.rejects(
    publish({ domains: ["files.example.com"] }, "other"),
    /already belongs to bucket "site"/,
  );
  for (const wrong of ["a b", "-x.example.com", "1.2.3.4"]) {
    await assert.rejects(publish({ domains: [wrong] }, "other"), { name: "PublicationError" });
  }
  await assert.rejects(publish({ index: "a/b" }, "other"), { name: "PublicationError" });
});

test("the names of the server are never those of a bucket, whatever its settings say", async (t) => {
  const { publish, publishOutside, get, engine } = await openScene(t);
  for (const name of ["site", "other"]) await engine.put(name, "a", Buffer.from(name));
  await publish({}, "site");
  const names = ["store.example.net", "public.example.net", "site.public.example.net"];
  for (const domain of ["localhost", "site.localhost", ...names])
    await assert.rejects(publish({ domains: [domain] }, "other"), /is a name of this server/);
  // The command line does not know the options of the server.
  await publishOutside({ domains: names }, "other");
  const from = async (host: string, path: string) => (await get(path, { headers: { host } })).text;
  assert.equal(await from("site.localhost", "/a"), "site");
  assert.equal(await from("site.public.example.net:9002", "/a"), "site");
  for (const host of ["localhost", "store.example.net", "public.example.net"])
    assert.equal(await from(host, "/site/a"), "site", `${host} serves buckets by path`);
});

test("a public GET of an object encrypted with a customer-provided key is refused with a message", async (t) => {
  const { publish, get, engine } = await openScene(t);
  await publish();
  await engine.put("site", "sealed", sampleBytes(10), { customerKey: new Uint8Array(32) });
  const { status, text } = await get("/site/sealed");
  assert.equal(status, 403);
  assert.match(text, /encrypted with a customer-provided key/);
});

test("cross-origin requests to a public bucket follow its CORS rules", async (t) => {
  const { put, publish, get, engine } = await openScene(t);
  await put("a", "hello");
  await publish();
  const headers = { origin: "https://app.example.com" };
  assert.equal((await get("/site/a", { headers })).headers["access-control-allow-origin"], undefined);
  const rule = {
    origins: ["https://*.example.com"],
    methods: ["GET"],
    headers: ["range"],
    exposed: ["etag"],
  };
  await engine.changeSettings("site", { cors: [rule] });
  const allowed = await get("/site/a", { headers });
  assert.equal(allowed.headers["access-control-allow-origin"], "https://app.example.com");
  const preflightHeaders = {
    ...headers,
    "access-control-request-method": "GET",
    "access-control-request-headers": "Range",
  };
  const preflight = await get("/site/a", { method: "OPTIONS", headers: preflightHeaders });
  assert.deepEqual([preflight.status, preflight.headers["access-control-allow-headers"]], [204, "range"]);
  const foreign = { ...preflightHeaders, origin: "https://elsewhere.net" };
  assert.equal((await get("/site/a", { method: "OPTIONS", headers: foreign })).status, 405);
});

test("a public port that is not configured is opened when the first bucket becomes public", async (t) => {
  const { engine, documents } = await openEngine("memory:");
  await engine.createBucket("site");
  const opened: number[] = [];
  const server = await startPublic({
    ...{ engine, documents, host: "127.0.0.1", port: 0, serverNames, opens: "when a bucket is public" },
    ...{
      tls: undefined,
      trusted: [],
      limits: defaultPortLimits,
      probe: "",
      log: () => {},
      onOpened: (port) => opened.push(port),
      describeError: String,
    },
  });
  t.after(async () => {
    await server.close();
    await engine.close();
  });
  assert.equal(server.port, undefined);
  await publish({ engine, documents }, "site", {});
  await until(() => opened.length > 0, "the port is opened");
  assert.equal((await ask(opened[0]!, { path: "/site/a" })).status, 404);
});

test("every response of a public bucket with CORS rules has Vary: Origin, with or without an Origin header", async (t) => {
  const { put, publish, get, engine } = await openScene(t);
  await publish();
  await put("a", "hello");
  const { etag } = (await engine.head("site", "a"))!;
  assert.equal((await get("/site/a")).headers.vary, undefined);
  const rule = { id: undefined, methods: ["GET"], origins: ["https://a.example"], headers: [], exposed: [] };
  await engine.changeSettings("site", { cors: [{ ...rule, maxAgeSeconds: undefined }] });
  const requests: Asked[] = [
    {},
    { method: "HEAD" },
    { headers: { origin: "https://a.example" } },
    { headers: { origin: "https://b.example" } },
    { headers: { range: "bytes=0-" } },
    { headers: { range: "bytes=9-" } },
    { headers: { "if-none-match": `"${etag}"` } },
    { path: "/site/missing" },
  ];
  for (const { path = "/site/a", ...asked } of requests) {
    const { headers } = await get(path, asked);
    assert.match(headers.vary ?? "", /^Origin\b/, JSON.stringify({ path, ...asked }));
  }
});
