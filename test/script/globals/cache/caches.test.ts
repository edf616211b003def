// The Cache API of scripts: which responses are stored, for how long, and how they are matched.
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { describeResponse } from "../../../../src/script/globals/fetch/response.ts";
import { cacheBytes, clock, incoming, node, script, streamOf } from "../installed.ts";

const cache = script.caches.default;
const url = "https://example.com/a";
const seconds = 1000;

const kept = (body: unknown = "body", headers: Record<string, string> = {}, status = 200) =>
  new script.Response(body, { status, headers: { "cache-control": "max-age=60", ...headers } });

const get = (headers: Record<string, string> = {}) => new script.Request(url, { headers });

beforeEach(async () => {
  await cache.delete(url);
});

test("cache.match returns a stored response repeatedly, by URL and by Request", async () => {
  assert.equal(await cache.match(url), undefined);
  assert.equal(await cache.put(url, kept("hello", { "x-a": "1" })), undefined);
  for (const request of [url, new URL(url), get(), `${url}#part`]) {
    const response = await cache.match(request);
    assert.equal(response!.status, 200);
    assert.equal(response!.headers.get("x-a"), "1");
    assert.equal(await response!.text(), "hello");
  }
  assert.equal(await cache.match(`${url}?b`), undefined);
});

test("cache.match compares the host of an incoming request ignoring case, and the path exactly as written", async () => {
  await cache.put("https://example.com/a", kept("hello"));
  const matched = (target: string) => cache.match(incoming({ url: target }));
  assert.equal(await (await matched("HTTPS://Example.COM:443/a#x"))!.text(), "hello");
  assert.equal(await matched("https://example.com/b/../a"), undefined);
  await cache.put("https://example.com", kept("root"));
  assert.equal(await (await matched("https://example.com/"))!.text(), "root");
});

test("cache.put accepts responses with streams or bytes, and responses of Node's own class", async () => {
  for (const body of [streamOf("a", "b"), Buffer.from("ab"), new Blob(["ab"])]) {
    await cache.put(url, kept(body));
    assert.equal(await (await cache.match(url))!.text(), "ab");
  }
  await cache.put(url, new node.Response("own", { headers: { "cache-control": "max-age=9" } }));
  assert.equal(await (await cache.match(url))!.text(), "own");
});

test("changing a response that cache.match returned does not change the cached response", async () => {
  await cache.put(url, kept(new Uint8Array([1, 2, 3])));
  const first = await cache.match(url);
  assert.throws(() => first!.headers.set("a", "b"), TypeError);
  new Uint8Array(await first!.arrayBuffer()).fill(9);
  const second = await cache.match(url);
  for await (const chunk of second!.body!) (chunk as Uint8Array).fill(9);
  const third = describeResponse((await cache.match(url))!);
  assert.deepEqual([...(third.body as Uint8Array)], [1, 2, 3]);
});

test("cache.put consumes the body of the response", async () => {
  const response = kept();
  await cache.put(url, response);
  assert.ok(response.bodyUsed);
  await assert.rejects(cache.put(url, response), TypeError);
});

test("Cache-Control, Age and Expires determine when a cached response expires", async () => {
  const lifetimes: [Record<string, string>, number][] = [
    [{ "cache-control": "max-age=60" }, 60],
    [{ "cache-control": "max-age=60, s-maxage=5" }, 5],
    [{ "cache-control": "public, MAX-AGE=7" }, 7],
    [{ "cache-control": 'max-age="8"' }, 8],
    [{ "cache-control": "max-age=60", age: "50" }, 10],
    [{ expires: new Date(clock.now + 20 * seconds).toUTCString() }, 20],
    [{ "cache-control": "max-age=3", expires: "Thu, 01 Jan 2037 00:00:00 GMT" }, 3],
    [{}, 7200],
  ];
  for (const [headers, lifetime] of lifetimes) {
    const start = clock.now;
    await cache.put(url, new script.Response("x", { headers }));
    clock.now = start + lifetime * seconds - 1;
    const last = await cache.match(url);
    assert.equal(last?.headers.get("age"), String(lifetime - 1), JSON.stringify(headers));
    clock.now++;
    assert.equal(await cache.match(url), undefined, JSON.stringify(headers));
    clock.now = start;
  }
});

test("a response whose headers forbid caching is not stored, and its stream is cancelled", async () => {
  const forbidding: Record<string, string>[] = [
    { "cache-control": "no-store" },
    { "cache-control": "max-age=60, no-store" },
    { "cache-control": "no-cache" },
    { "cache-control": "private, max-age=60" },
    { "cache-control": "max-age=0" },
    { expires: "0" },
    { expires: "Thu, 01 Jan 2015 00:00:00 GMT" },
    { "cache-control": "max-age=60", "set-cookie": "a=1" },
  ];
  for (const headers of forbidding) {
    let cancelled = false;
    const body = new ReadableStream({
      cancel() {
        cancelled = true;
      },
    });
    await cache.put(url, new script.Response(body, { headers }));
    assert.equal(await cache.match(url), undefined, JSON.stringify(headers));
    assert.ok(cancelled);
  }
});

test("Set-Cookie is omitted from a cached response if Cache-Control contains private=Set-Cookie", async () => {
  await cache.put(url, kept("x", { "cache-control": "max-age=60, private=Set-Cookie", "set-cookie": "a=1" }));
  const response = await cache.match(url);
  assert.equal(await response!.text(), "x");
  assert.equal(response!.headers.has("set-cookie"), false);
});

test("a response to a request with Authorization is cached only if Cache-Control allows it", async () => {
  const authorised = get({ authorization: "Basic eA==" });
  await cache.put(authorised, kept());
  assert.equal(await cache.match(url), undefined);
  await cache.put(authorised, kept("x", { "cache-control": "public, max-age=5" }));
  assert.equal(await (await cache.match(url))!.text(), "x");
});

test("the status determines whether a response without caching headers is cached", async () => {
  for (const [status, isKept] of [
    [200, true],
    [301, true],
    [404, true],
    [500, false],
    [201, false],
  ] as const) {
    await cache.put(url, new script.Response("x", { status }));
    assert.equal((await cache.match(url))?.status, isKept ? status : undefined);
    await cache.delete(url);
  }
  await cache.put(url, kept("x", {}, 500));
  assert.equal((await cache.match(url))!.status, 500);
});

test("cache.put rejects a 206 response, a request other than GET and a response with Vary: *", async () => {
  const post = new script.Request(url, { method: "POST" });
  await assert.rejects(cache.put(post, kept()), TypeError);
  await assert.rejects(cache.put(url, kept("x", {}, 206)), TypeError);
  await assert.rejects(cache.put(url, kept("x", { vary: "accept, *" })), TypeError);
  await assert.rejects(cache.put(url, script.Response.error()), TypeError);
  await assert.rejects(cache.put(url, "x" as never), TypeError);
  await assert.rejects(cache.put("/relative", kept()), TypeError);
  await cache.put(url, new script.Response(null, { status: 304, headers: { "cache-control": "max-age=9" } }));
  assert.equal(await cache.match(url), undefined);
});

test("cache.match of a request other than GET returns undefined unless ignoreMethod is set", async () => {
  await cache.put(url, kept());
  const head = new script.Request(url, { method: "HEAD" });
  assert.equal(await cache.match(head), undefined);
  assert.equal(await (await cache.match(head, { ignoreMethod: true }))!.text(), "body");
  assert.equal(await cache.delete(head), false);
  assert.equal(await cache.delete(head, { ignoreMethod: true }), true);
});

test("a cached response with Vary matches only requests with the same values of the listed headers", async () => {
  await cache.put(get({ "accept-language": "sv" }), kept("hej", { vary: "Accept-Language" }));
  assert.equal(await (await cache.match(get({ "accept-language": "sv" })))!.text(), "hej");
  assert.equal(await cache.match(get({ "accept-language": "en" })), undefined);
  assert.equal(await cache.match(url), undefined);
});

test("cache.delete returns whether an entry was deleted", async () => {
  assert.equal(await cache.delete(url), false);
  await cache.put(url, kept());
  assert.equal(await cache.delete(url), true);
  assert.equal(await cache.match(url), undefined);
});

test("cache.match of a range request returns 206 and the requested bytes", async () => {
  await cache.put(url, kept("0123456789", { "content-length": "10", etag: '"e"' }));
  const ranges: [string, number, string | null, string][] = [
    ["bytes=0-3", 206, "bytes 0-3/10", "0123"],
    ["bytes=8-", 206, "bytes 8-9/10", "89"],
    ["bytes=-2", 206, "bytes 8-9/10", "89"],
    ["bytes=5-100", 206, "bytes 5-9/10", "56789"],
    ["bytes=10-", 416, "bytes */10", ""],
    ["bytes=2-1", 200, null, "0123456789"],
    ["items=1-2", 200, null, "0123456789"],
  ];
  for (const [range, status, contentRange, text] of ranges) {
    const response = (await cache.match(get({ range })))!;
    assert.deepEqual([response.status, response.headers.get("content-range")], [status, contentRange], range);
    assert.equal(await response.text(), text);
  }
});

test("cache.match with If-Range returns the range only when the etag or date matches", async () => {
  const modified = "Thu, 01 Jan 2015 00:00:00 GMT";
  await cache.put(url, kept("0123", { etag: '"e"', "last-modified": modified }));
  const statusFor = async (condition: string) =>
    (await cache.match(get({ range: "bytes=0-0", "if-range": condition })))!.status;
  assert.equal(await statusFor('"e"'), 206);
  assert.equal(await statusFor('"f"'), 200);
  assert.equal(await statusFor('W/"e"'), 200);
  assert.equal(await statusFor(modified), 206);
  assert.equal(await statusFor("Thu, 01 Jan 2016 00:00:00 GMT"), 200);
});

test("cache.match with a matching If-None-Match or If-Modified-Since returns 304", async () => {
  await cache.put(url, kept("x", { etag: 'W/"e"', "last-modified": "Thu, 01 Jan 2015 00:00:00 GMT" }));
  const statusFor = async (headers: Record<string, string>) => (await cache.match(get(headers)))!.status;
  assert.equal(await statusFor({ "if-none-match": '"x", "e"' }), 304);
  assert.equal(await statusFor({ "if-none-match": 'W/"e"' }), 304);
  assert.equal(await statusFor({ "if-none-match": "*" }), 304);
  assert.equal(await statusFor({ "if-none-match": '"x"' }), 200);
  assert.equal(await statusFor({ "if-modified-since": "Fri, 02 Jan 2015 00:00:00 GMT" }), 304);
  assert.equal(await statusFor({ "if-modified-since": "Wed, 31 Dec 2014 00:00:00 GMT" }), 200);
  const unchanged = (await cache.match(get({ "if-none-match": "*" })))!;
  assert.equal(unchanged.headers.get("etag"), 'W/"e"');
  assert.equal(unchanged.body, null);
});

test("named caches are separate from each other and from the default cache", async () => {
  const [first, again, second] = await Promise.all(["a", "a", "b"].map((name) => script.caches.open(name)));
  await first!.put(url, kept("first"));
  assert.equal(await (await again!.match(url))!.text(), "first");
  assert.equal(await second!.match(url), undefined);
  assert.equal(await cache.match(url), undefined);
  assert.ok(first instanceof script.Cache);
  assert.throws(() => new (script.Cache as unknown as new () => unknown)(), TypeError);
  await first!.delete(url);
});

test("the least recently used entry is evicted when the cache is full", async () => {
  const part = "x".repeat(cacheBytes / 5);
  for (const key of ["1", "2", "3", "4"]) await cache.put(url + key, kept(part));
  assert.ok(await cache.match(`${url}1`));
  await cache.put(`${url}5`, kept(part));
  const left = await Promise.all(["1", "2", "3", "4", "5"].map((key) => cache.match(url + key)));
  assert.deepEqual(
    left.map((found) => found !== undefined),
    [true, false, true, true, true],
  );
});

test("a response larger than the cache is not stored, and its stream is cancelled when the length is known", async () => {
  let pulled = 0;
  let cancelled = false;
  const endless = new ReadableStream({
    pull(controller) {
      pulled += 10_000;
      controller.enqueue(new Uint8Array(10_000));
    },
    cancel() {
      cancelled = true;
    },
  });
  await cache.put(url, kept(endless));
  assert.ok(cancelled);
  assert.ok(pulled <= cacheBytes + 30_000, `${pulled} bytes were read`);
  assert.equal(await cache.match(url), undefined);
  await cache.put(url, kept("x".repeat(cacheBytes)));
  assert.equal(await cache.match(url), undefined);
});

test("a response whose body fails is not cached, and cache.put rejects with its error", async () => {
  const failing = new ReadableStream({
    pull() {
      throw new Error("broken");
    },
  });
  await assert.rejects(cache.put(url, kept(failing)), /broken/);
  assert.equal(await cache.match(url), undefined);
});
