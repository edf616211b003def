// The key-value protocol as raw requests: operations, limits, and requests of no known runtime.
import assert from "node:assert/strict";
import { once } from "node:events";
import { type TestContext, test } from "node:test";
import { createKvCapability } from "../../../src/capability/kv/kv-capability.ts";
import { openEngine } from "../../../src/open.ts";
import { assertBytes, sampleBytes } from "../../support/bytes.ts";
import { type RawRequest, serveOnSocket } from "../../support/workerd/socket-client.ts";

const start = 1_700_000_000;
const valueBytes = 25 * 1024 * 1024;

async function openScene(t: TestContext) {
  const clock = { time: start * 1000 };
  const { engine } = await openEngine("memory:", { now: () => clock.time });
  t.after(() => engine.close());
  await engine.kv.createNamespace("sessions");
  await engine.kv.createNamespace("other");
  const client = await serveOnSocket(t, createKvCapability({ engine, namespace: "sessions" }));
  const { send } = client;
  const target = (key: string, query = "") => `/${encodeURIComponent(key)}?urlencoded=true${query}`;
  return {
    ...{ engine, clock, client, send, target },
    put: (key: string, body: string | Uint8Array, headers: Record<string, string> = {}) =>
      send(target(key), { method: "PUT", body, headers }),
    get: (key: string) => send(target(key)),
    bulk: (document: unknown) => send("/bulk/get", { method: "POST", body: JSON.stringify(document) }),
  };
}

test("put, get and delete use the key of the path, whatever characters it has", async (t) => {
  const { put, get, send, target, engine } = await openScene(t);
  const keys = [
    "a",
    "a/b",
    "/",
    "%2F",
    "a b+c",
    "...",
    "a/../b",
    "é\u{1f600}",
    "bulk/get",
    "?x=1",
    "__proto__",
  ];
  for (const key of keys) assert.equal((await put(key, `value of ${key}`)).status, 200);
  for (const key of keys) assert.equal((await get(key)).text, `value of ${key}`);
  const listed = await engine.kv.list("sessions");
  assert.deepEqual(listed.keys.map(({ name }) => name).sort(), [...keys].sort());
  assert.deepEqual((await engine.kv.list("other")).keys, []);
  for (const key of keys) assert.equal((await send(target(key), { method: "DELETE" })).status, 200);
  for (const key of keys) assert.equal((await get(key)).status, 404);
  assert.equal((await send(target("a"), { method: "DELETE" })).status, 200, "a missing key is no error");
});

test("values of every size are returned with their length", async (t) => {
  const { put, get, send, target } = await openScene(t);
  for (const size of [0, 1, 5000, 300_000, valueBytes]) {
    assert.equal((await put("key", sampleBytes(size))).status, 200);
    const { headers, bytes } = await get("key");
    assert.equal(headers["content-length"], String(size));
    assertBytes(bytes, sampleBytes(size));
  }
  async function* chunks() {
    for (let i = 0; i < 10; i++) yield sampleBytes(1000);
  }
  assert.equal((await send(target("key"), { method: "PUT", body: chunks() })).status, 200);
  assert.equal((await get("key")).bytes.length, 10_000);
});

test("metadata is a header of JSON text in both directions, and expirations are parameters", async (t) => {
  const { put, get, send, target, clock, engine } = await openScene(t);
  const json = JSON.stringify({ text: "é\u{1f600}\n\x7f", "": [1, null] });
  const header = Buffer.from(json.replace("\x7f", "\\u007f")).toString("latin1");
  await put("key", "value", { "cf-kv-metadata": header });
  const found = await get("key");
  const received = found.headers["cf-kv-metadata"] as string;
  assert.match(received, /^[\x20-\x7e]*$/);
  assert.deepEqual(JSON.parse(received), JSON.parse(json));
  assert.deepEqual(JSON.parse((await engine.kv.get("sessions", "key"))!.metadata!), JSON.parse(json));
  await engine.kv.put("sessions", "spaced", Buffer.from("value"), { metadata: '{\r\n\t"a": "\x7f"\n}' });
  assert.deepEqual(JSON.parse((await get("spaced")).headers["cf-kv-metadata"] as string), { a: "\x7f" });

  await send(target("soon", "&expiration_ttl=60"), { method: "PUT", body: "value" });
  await send(target("later", `&expiration=${start + 90}`), { method: "PUT", body: "value" });
  assert.equal((await get("soon")).headers["cf-expiration"], String(start + 60));
  clock.time += 60_000;
  assert.equal((await get("soon")).status, 404);
  assert.equal((await get("later")).status, 200);
});

test("a list returns pages of keys with metadata as JSON text", async (t) => {
  const { send, put, target } = await openScene(t);
  await put("a b", "value", { "cf-kv-metadata": '{"n":1}' });
  await send(target("a+c", "&expiration_ttl=60"), { method: "PUT", body: "value" });
  await put("b", "value");
  const first = JSON.parse((await send("/?key_count_limit=1&prefix=a")).text) as { cursor: string };
  assert.deepEqual(first, {
    keys: [{ name: "a b", metadata: '{"n":1}' }],
    list_complete: false,
    cursor: first.cursor,
  });
  const cursor = encodeURIComponent(first.cursor);
  assert.deepEqual(JSON.parse((await send(`/?prefix=a&cursor=${cursor}`)).text), {
    keys: [{ name: "a+c", expiration: start + 60 }],
    list_complete: true,
  });
  for (const [query, count] of [
    ["prefix=a+", 1],
    ["prefix=a%2B", 1],
    ["prefix=a%20b", 1],
    ["cursor=", 3],
  ] as const) {
    const { keys } = JSON.parse((await send(`/?${query}`)).text) as { keys: unknown[] };
    assert.equal(keys.length, count, query);
  }
  assert.equal(JSON.parse((await send("/")).text).list_complete, true);
});

test("a bulk get returns one JSON object, also for values of many megabytes", async (t) => {
  const { put, bulk } = await openScene(t);
  await put("__proto__", '"p"');
  await put("json", '{ "__proto__": [1] }', { "cf-kv-metadata": '"m"' });
  const keys = ["__proto__", "json", "missing"];
  assert.equal(
    (await bulk({ keys })).text,
    '{"__proto__":"\\"p\\"","json":"{ \\"__proto__\\": [1] }","missing":null}',
  );
  assert.equal(
    (await bulk({ keys, type: "json" })).text,
    '{"__proto__":"p","json":{ "__proto__": [1] },"missing":null}',
  );
  assert.equal(
    (await bulk({ keys: ["json", "missing"], type: "text", withMetadata: true, cacheTtl: "60" })).text,
    '{"json":{"value":"{ \\"__proto__\\": [1] }","metadata":"m"},"missing":null}',
  );
  // Surrogate pairs at every offset, so that some are at the end of a piece of the response.
  const large = `x${"\u{1f600}".repeat(700_000)}`;
  const control = '\u0000\n"\\'.repeat(500_000);
  await put("large", large);
  await put("control", control);
  const found = JSON.parse((await bulk({ keys: ["large", "control"] })).text) as Record<string, string>;
  assert.ok(found.large === large && found.control === control);
});

test("a bulk get of more than 25 MiB is refused", async (t) => {
  const { put, bulk } = await openScene(t);
  for (const key of ["a", "b"]) await put(key, new Uint8Array(valueBytes / 2 + (key === "b" ? 1 : 0)));
  const { status, statusText } = await bulk({ keys: ["a", "b"] });
  assert.deepEqual([status, statusText], [413, "Total size of request exceeds the limit of 25MB"]);
});

test("an invalid request is refused with a status and a reason, and changes nothing", async (t) => {
  const { send, put, engine, target } = await openScene(t);
  await put("json", "{");
  const many = Array.from({ length: 101 }, (_, i) => `key${i}`);
  const PUT = (headers: Record<string, string> = {}): RawRequest => ({ method: "PUT", body: "x", headers });
  const POST = (document: unknown): RawRequest => ({ method: "POST", body: JSON.stringify(document) });
  const parameter = "The query of this request has an unknown or invalid parameter.";
  const field = "The body of this request has an unknown or invalid field.";
  const undecodable = "Could not URL-decode key name";
  const method = "The method of this request is not supported by key-value namespaces.";
  const rows: readonly (readonly [string, RawRequest, number, string])[] = [
    ["/?urlencoded=true", PUT(), 400, "Key names must not be empty"],
    ["/?urlencoded=true", { method: "DELETE" }, 400, "Key names must not be empty"],
    [target(".."), PUT(), 400, 'Illegal key name "..". Please use a different name.'],
    [target("%2e"), {}, 404, "Not Found"],
    [target("x".repeat(513)), {}, 414, "UTF-8 encoded length of 513 exceeds key length limit of 512."],
    ["/key", {}, 400, undecodable],
    ["/key?urlencoded=false", {}, 400, undecodable],
    ["/a/b?urlencoded=true", {}, 400, undecodable],
    ["//a?urlencoded=true", {}, 400, undecodable],
    ["/%ff?urlencoded=true", PUT(), 400, undecodable],
    ["/%4?urlencoded=true", {}, 400, undecodable],
    ["*?urlencoded=true", {}, 400, undecodable],
    ["/key?urlencoded=true&urlencoded=true", {}, 400, parameter],
    ["/key?urlencoded=true&new=1", PUT(), 400, parameter],
    ["/key?urlencoded=true&expiration=1", {}, 400, parameter],
    ["/?prefix=%ff", {}, 400, parameter],
    ["/?urlencoded=true&delimiter=x", {}, 400, parameter],
    [target("a", "&cache_ttl=29"), {}, 400, "Invalid cache_ttl of 29. Cache TTL must be at least 30."],
    [target("a", "&cache_ttl=x"), {}, 400, "Invalid cache_ttl of NaN. Cache TTL must be at least 30."],
    [target("a", "&expiration_ttl=59"), PUT(), 400, "Invalid expiration_ttl of 59. Expiration TTL must be at least 60."],
    [target("a", "&expiration_ttl=1e9"), PUT(), 400, "Invalid expiration_ttl of NaN. Please specify integer greater than 0."],
    [target("a", `&expiration=${start + 59}`), PUT(), 400, `Invalid expiration of ${start + 59}. Expiration times must be at least 60 seconds in the future.`],
    [target("a"), PUT({ "cf-kv-metadata": "{" }), 400, "The metadata of this request is not valid JSON."],
    [target("a"), PUT({ "cf-kv-metadata": '"\xff"' }), 400, "The metadata of this request is not valid JSON."],
    [target("a"), PUT({ "cf-kv-metadata": `"${"x".repeat(1023)}"` }), 413, "Metadata length of 1025 exceeds limit of 1024."],
    ["/?key_count_limit=0", {}, 400, "Invalid key_count_limit of 0. Please specify an integer greater than 0."],
    ["/?key_count_limit=1001", {}, 400, "Invalid key_count_limit of 1001. Please specify an integer less than 1000."],
    ["/?key_count_limit=", {}, 400, "Invalid key_count_limit of NaN. Please specify an integer greater than 0."],
    [`/?prefix=${"x".repeat(513)}`, {}, 414, "UTF-8 encoded length of 513 exceeds key length limit of 512."],
    ["/bulk/get?x=1", POST({ keys: ["a"] }), 400, parameter],
    ["/bulk/get", { method: "POST", body: "{" }, 400, "The body of this request is not valid JSON."],
    ["/bulk/get", { method: "POST", body: Buffer.of(0x22, 0xff, 0x22) }, 400, "The body of this request is not valid JSON."],
    ["/bulk/get", POST(["a"]), 400, field],
    ["/bulk/get", POST({ keys: ["a"], new: 1 }), 400, field],
    ["/bulk/get", POST({ keys: ["a"], withMetadata: "true" }), 400, field],
    ["/bulk/get", POST({ keys: ["a"], cacheTtl: 60 }), 400, field],
    ["/bulk/get", POST({ keys: ["a"], cacheTtl: "29" }), 400, "Invalid cache_ttl of 29. Cache TTL must be at least 30."],
    ["/bulk/get", POST({ keys: "a" }), 400, "The keys of this request must be strings."],
    ["/bulk/get", POST({ keys: ["a", 1] }), 400, "The keys of this request must be strings."],
    ["/bulk/get", POST({ keys: [] }), 400, "You must request a minimum of 1 key"],
    ["/bulk/get", POST({ keys: many }), 400, "You can request a maximum of 100 keys"],
    ["/bulk/get", POST({ keys: ["a", ""] }), 400, "Key names must not be empty"],
    ["/bulk/get", POST({ keys: ["a"], type: "a\r\nb: c" }), 400, '"a  b: c" is not a valid type. Use "json" or "text"'],
    ["/bulk/get", POST({ keys: ["a"], type: JSON.parse("[".repeat(20) + "]".repeat(20)) }), 400, "The body of this request has too many values, or lists too deep in each other."],
    ["/bulk/get", POST({ keys: ["a"], type: ["x".repeat(1000)] }), 400, '"object" is not a valid type. Use "json" or "text"'],
    ["/bulk/get", POST({ keys: ["json"], type: "json" }), 400, "At least one of the requested keys corresponds to a non-json value"],
    ["/bulk/get", POST({ keys: ["x".repeat(1024 * 1024)] }), 413, "The keys of this request are too long: request fewer keys."],
    ["/bulk/get", {}, 400, undecodable],
    [target("a"), { method: "POST" }, 400, method],
    [target("a"), { method: "PATCH", body: "x" }, 400, method],
  ]; // biome-ignore format: one row per line
  for (const [path, request, status, reason] of rows) {
    const found = await send(path, request);
    assert.deepEqual([found.status, found.statusText], [status, reason], `${request.method} ${path}`);
  }
  assert.deepEqual((await engine.kv.list("sessions")).keys.map(({ name }) => name), ["json"]); // biome-ignore format: one line
});

test("a body that is too large or ends too early is not stored", async (t) => {
  const { put, get, send, target, client, engine } = await openScene(t);
  const tooLarge = `Value length of ${valueBytes + 1} exceeds limit of ${valueBytes}.`;
  const declared = await put("key", new Uint8Array(valueBytes + 1));
  assert.deepEqual([declared.status, declared.statusText], [413, tooLarge]);
  async function* chunks() {
    for (let i = 0; i < 25; i++) yield new Uint8Array(1024 * 1024);
    yield new Uint8Array(1);
  }
  const streamed = await send(target("key"), { method: "PUT", body: chunks() });
  assert.deepEqual([streamed.status, streamed.statusText], [413, tooLarge]);
  const head = "PUT /key?urlencoded=true HTTP/1.1\r\nhost: fake-host\r\n";
  for (const rest of [
    "content-length: 10\r\n\r\nhello",
    "transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n",
  ]) {
    const socket = await client.connect(head + rest);
    socket.end();
    await once(socket.resume(), "close");
    assert.equal((await get("key")).status, 404, rest);
  }
  assert.deepEqual((await engine.kv.list("sessions")).keys, []);
});

test("an endless body is cut off after the refusal", async (t) => {
  const { client, get } = await openScene(t);
  const socket = await client.connect(
    "PUT /key?urlencoded=true HTTP/1.1\r\nhost: fake-host\r\ntransfer-encoding: chunked\r\n\r\n",
  );
  // Sending fails when the connection is closed.
  socket.on("error", () => {});
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  const chunk = Buffer.concat([Buffer.from("100000\r\n"), Buffer.alloc(1024 * 1024), Buffer.from("\r\n")]);
  const send = () => {
    while (!socket.destroyed && socket.write(chunk));
  };
  socket.on("drain", send);
  socket.resume();
  send();
  await closed;
  assert.equal((await get("key")).status, 404);
});

test("the first response on a socket is the final one, without a status below 200", async (t) => {
  const { client } = await openScene(t);
  const socket = await client.connect("GET / HTTP/1.1\r\nhost: fake-host\r\n\r\n");
  const [bytes] = (await once(socket, "data")) as [Buffer];
  socket.destroy();
  assert.match(bytes.toString(), /^HTTP\/1\.1 200 OK\r\n/);
});

test("a missing namespace is an error of every operation, never a missing key", async (t) => {
  const { engine } = await openScene(t);
  const { send } = await serveOnSocket(t, createKvCapability({ engine, namespace: "none" }));
  const reason = 'There is no key-value namespace "none".';
  for (const [method, target, status] of [
    ["GET", "/key?urlencoded=true", 400],
    ["PUT", "/key?urlencoded=true", 404],
    ["DELETE", "/key?urlencoded=true", 404],
    ["GET", "/", 404],
  ] as const) {
    const found = await send(target, { method });
    assert.deepEqual([found.status, found.statusText], [status, reason], `${method} ${target}`);
  }
  const bulk = await send("/bulk/get", { method: "POST", body: '{"keys":["a"]}' });
  assert.deepEqual([bulk.status, bulk.statusText], [404, reason]);
});
