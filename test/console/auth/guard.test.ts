// Protection of the console: host names, origins, cookies, wrong tokens and security headers.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { request } from "node:http";
import { type TestContext, test } from "node:test";
import { bucketRoutes } from "../../../src/console/api/buckets.ts";
import { singleObjectRoutes } from "../../../src/console/api/object.ts";
import { createLinks } from "../../../src/console/api/presigned-links.ts";
import { sessionRoutes, signInRoute } from "../../../src/console/api/session.ts";
import { createSessions } from "../../../src/console/auth/sessions.ts";
import { createAttempts } from "../../../src/console/auth/sign-in-throttle.ts";
import { createTokens, hashSecret, newToken } from "../../../src/console/auth/tokens.ts";
import { createUsers } from "../../../src/console/auth/users.ts";
import { createHandler } from "../../../src/console/handler.ts";
import { loadPageFiles } from "../../../src/console/page-files.ts";
import { pagePolicy } from "../../../src/console/response.ts";
import { type HttpHandler, listen } from "../../../src/http/server/listen.ts";
import { openEngine } from "../../../src/open.ts";
import { root } from "../../cli/store.ts";
import { until } from "../../script/inside.ts";

interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

async function scene(t: TestContext) {
  const { engine, documents } = await openEngine("memory:");
  const own = newToken();
  const now = Date.now;
  const tokens = createTokens(documents, now);
  const sessions = createSessions({
    documents,
    tokens,
    users: createUsers(documents, now),
    ownToken: own.hash,
    now,
  });
  const s3 = { endpoint: "http://127.0.0.1:9000", accessKeyId: "STORE", secretAccessKey: "secret" };
  const links = createLinks(s3, now);
  const handler = createHandler({
    files: loadPageFiles(`${root}/src/console/page`),
    sessions,
    routes: [
      ...sessionRoutes(sessions),
      ...bucketRoutes(engine, { endGrants: async () => {} }, { listPublic: async () => new Set() }),
      ...singleObjectRoutes(engine, links, () => undefined, now),
    ],
    openRoutes: [signInRoute(sessions, createAttempts(now))],
    policy: pagePolicy(s3.endpoint),
    hostNames: ["127.0.0.1", "console.example.com"],
    log: (line) => assert.fail(line),
    monitoring: () => undefined,
    shared: async () => undefined,
    recordAudit: async () => {},
    now,
  });
  /** Requests that the server received, each with a promise that resolves when it is handled. */
  const exchanges: { readonly target: string; readonly over: Promise<unknown> }[] = [];
  const noting: HttpHandler = (asked) => {
    const over = Promise.resolve(handler(asked));
    exchanges.push({ target: asked.target, over });
    return over;
  };
  const server = await listen(noting, { host: "127.0.0.1", port: 0 });
  t.after(async () => {
    await server.drain();
    await engine.close();
  });
  const ask = (path: string, { method = "GET", headers = {}, body }: Asked = {}) =>
    new Promise<Answered>((resolve, reject) => {
      const options = { host: "127.0.0.1", port: server.port!, path, method, headers, agent: false };
      const asked = request(options, (answer) => {
        let text = "";
        answer.setEncoding("utf8").on("data", (piece: string) => {
          text += piece;
        });
        answer.on("end", () => resolve({ status: answer.statusCode!, headers: answer.headers, body: text }));
      });
      asked.on("error", reject);
      asked.end(body);
    });
  const signIn = (token: string) => ask("/api/session", post({ token }));
  const cookieOf = ({ headers }: Answered) => String(headers["set-cookie"]).split(";")[0]!;
  return { engine, documents, token: own.token, ask, signIn, cookieOf, exchanges, port: server.port! };
}

function post(value: unknown, headers: Readonly<Record<string, string>> = {}): Asked {
  return { method: "POST", headers: { "x-store-console": "1", ...headers }, body: JSON.stringify(value) };
}

test("the console accepts only IP addresses, localhost and its configured name as host", async (t) => {
  const { ask } = await scene(t);
  for (const host of [
    "127.0.0.1",
    "127.0.0.1:9001",
    "[::1]:9001",
    "localhost:1",
    "console.example.com",
    "CONSOLE.example.com:443",
  ]) {
    assert.equal((await ask("/", { headers: { host } })).status, 200, host);
  }
  for (const host of [
    "evil.example",
    "console.example.com.evil.example",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
  ]) {
    const answer = await ask("/", { headers: { host } });
    assert.equal(answer.status, 421, host);
    assert.match(answer.body, /--console-url/);
  }
});

test("without a session the console serves only its page; with a session the API works", async (t) => {
  const { ask, signIn, cookieOf, token } = await scene(t);
  for (const path of ["/api/session", "/api/buckets", "/api/content?bucket=a&key=b", "/api/nothing"]) {
    assert.equal((await ask(path)).status, 401, path);
  }
  const cookie = cookieOf(await signIn(token));
  assert.equal((await ask("/api/buckets", { headers: { cookie } })).status, 200);
  assert.equal((await ask("/api/nothing", { headers: { cookie } })).status, 404);
  const forged = `${cookie.slice(0, -4)}AAAA`;
  assert.equal((await ask("/api/buckets", { headers: { cookie: forged } })).status, 401);
  await ask("/api/session", { method: "DELETE", headers: { cookie, "x-store-console": "1" } });
  assert.equal((await ask("/api/buckets", { headers: { cookie } })).status, 401);
});

test("a sign-in link does not replace the session of another user without a question", async (t) => {
  const { ask, documents, signIn, cookieOf, token } = await scene(t);
  const made = await createTokens(documents, Date.now).create({
    name: "laptop",
    permissions: { role: "viewer" },
  });
  const cookie = cookieOf(await signIn(token));
  const open = (given: string, headers: Readonly<Record<string, string>>) =>
    ask("/api/session", post({ token: given, byLink: true }, headers));
  const refused = await open(made.token, { cookie });
  assert.equal(refused.status, 409);
  assert.equal(refused.headers["set-cookie"], undefined);
  assert.match(refused.body, /signed in as \\"store dev\\".*signs you in as \\"laptop\\"/);
  assert.equal((await ask("/api/buckets", { headers: { cookie } })).status, 200);
  assert.equal((await documents.list("console session")).length, 1);
  assert.equal((await open(token, { cookie })).status, 200, "the same user");
  assert.equal((await open(made.token, {})).status, 200, "no session");
  assert.equal((await open(made.token, { cookie: `${cookie}x` })).status, 200, "no valid session");
});

test("a change sent by a page of another origin is refused, even with the session cookie", async (t) => {
  const { ask, signIn, cookieOf, token, engine } = await scene(t);
  const cookie = cookieOf(await signIn(token));
  const refused: Readonly<Record<string, string>>[] = [
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
    { "sec-fetch-site": "none" },
    { origin: "https://evil.example" },
    { origin: "null" },
    { origin: "http://127.0.0.1:1" },
  ];
  for (const headers of refused) {
    const answer = await ask("/api/buckets", post({ name: "stolen" }, { cookie, ...headers }));
    assert.equal(answer.status, 403, JSON.stringify(headers));
  }
  const proxied = { cookie, origin: "https://console.example.com", "sec-fetch-site": "same-origin" };
  assert.equal((await ask("/api/buckets", post({ name: "by-a-proxy" }, proxied))).status, 201);
  await engine.deleteBucket("by-a-proxy");
  const plain = { method: "POST", headers: { cookie }, body: '{"name":"stolen"}' };
  assert.equal((await ask("/api/buckets", plain)).status, 403);
  for (const site of ["cross-site", "same-site"]) {
    assert.equal((await ask("/api/buckets", { headers: { cookie, "sec-fetch-site": site } })).status, 403);
  }
  assert.deepEqual(await engine.listBuckets(), []);
});

test("every response of the console has security headers, including errors", async (t) => {
  const { ask } = await scene(t);
  for (const path of ["/", "/app.js", "/api/buckets", "/missing"]) {
    const { headers } = await ask(path);
    const policy = String(headers["content-security-policy"]);
    assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self'; /);
    for (const rule of ["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"]) {
      assert.ok(policy.includes(rule), policy);
    }
    assert.doesNotMatch(policy, /unsafe|\*|data:|blob:/);
    assert.equal(headers["x-content-type-options"], "nosniff");
    assert.equal(headers["referrer-policy"], "no-referrer");
    assert.equal(headers["cross-origin-opener-policy"], "same-origin");
    assert.equal(headers["cross-origin-resource-policy"], "same-origin");
  }
  const { headers } = await ask("/app.js");
  const known = { "if-none-match": String(headers.etag) };
  assert.equal((await ask("/app.js", { headers: known })).status, 304);
  const page = await ask("/");
  assert.doesNotMatch(page.body, /<script(?![^>]* src=)|<style| on\w+=/);
});

test("files of the page are compressed for browsers that accept it, with an etag of their own", async (t) => {
  const { ask } = await scene(t);
  const etags = new Set<unknown>();
  for (const [accepted, encoding] of [
    ["", undefined],
    ["gzipped, br;q=0", undefined],
    ["gzip, deflate", "gzip"],
    ["gzip, deflate, br, zstd", "br"],
  ] as const) {
    const accepts = { "accept-encoding": accepted };
    const { headers } = await ask("/app.js", { headers: accepts });
    assert.deepEqual([headers["content-encoding"], headers.vary], [encoding, "accept-encoding"], accepted);
    const known = { ...accepts, "if-none-match": String(headers.etag) };
    assert.equal((await ask("/app.js", { headers: known })).status, 304);
    etags.add(headers.etag);
  }
  assert.equal(etags.size, 3);
});

test("all code of the page is less than 150 KB as browsers receive it", async (t) => {
  const { ask } = await scene(t);
  const names = readdirSync(`${root}/src/console/page`, { recursive: true, encoding: "utf8" });
  for (const encoding of ["br", "gzip"]) {
    let bytes = 0;
    for (const name of names.filter((one) => /\.\w+$/.test(one) && one !== "index.html")) {
      const accepts = { "accept-encoding": encoding };
      const { headers } = await ask(`/${name}`, { method: "HEAD", headers: accepts });
      assert.equal(headers["content-encoding"], encoding, name);
      bytes += Number(headers["content-length"]);
    }
    assert.ok(bytes > 50_000 && bytes < 150_000, `${bytes} bytes in ${encoding}`);
  }
});

test("a client that sends wrong tokens is throttled, and other clients are not", async (t) => {
  const { signIn, documents } = await scene(t);
  const tokens = createTokens(documents, Date.now);
  const { token } = await tokens.create({ name: "anna" });
  const other = await tokens.create({ name: "bert" });
  const wrong = `${token.slice(0, -5)}wrong`;
  for (let i = 0; i < 10; i++) assert.equal((await signIn(wrong)).status, 401);
  const late = await signIn(wrong);
  assert.equal(late.status, 429);
  assert.ok(Number(late.headers["retry-after"]) > 0);
  assert.equal((await signIn(token)).status, 429);
  assert.equal((await signIn(other.token)).status, 200);
});

test("stored hashes of tokens and sessions cannot be used to sign in", async (t) => {
  const { signIn, cookieOf, documents } = await scene(t);
  const { token } = await createTokens(documents, Date.now).create({ name: "anna" });
  const id = cookieOf(await signIn(token)).split("=")[1]!;
  const kept = JSON.stringify([
    await documents.list("console token"),
    await documents.list("console session"),
  ]);
  assert.ok(kept.includes(hashSecret(token)) && kept.includes(hashSecret(id)));
  assert.ok(!kept.includes(token) && !kept.includes(id) && !kept.includes(token.slice(-43)));
});

test("a client that disconnects during an upload stores nothing and causes no server error", async (t) => {
  const { engine, signIn, cookieOf, token, port, exchanges } = await scene(t);
  await engine.createBucket("bucket");
  const cookie = cookieOf(await signIn(token));
  const headers = { cookie, "x-store-console": "1", "content-length": "1000" };
  const path = "/api/object?bucket=bucket&key=half";
  const asked = request({ host: "127.0.0.1", port, path, method: "PUT", headers, agent: false });
  asked.on("error", () => {});
  asked.write("half of it");
  const found = () => exchanges.find(({ target }) => target === path);
  await until(() => found() !== undefined, "the upload has begun");
  asked.destroy();
  // Wait until the request is handled: a server error in the log would fail the test.
  await found()!.over;
  assert.equal(await engine.head("bucket", "half"), undefined);
});
