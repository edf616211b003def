// Attacks on the console: cross-site requests, DNS rebinding, forged sessions and guessed tokens.
import assert from "node:assert/strict";
import { request } from "node:http";
import { type TestContext, test } from "node:test";
import { exchange, openTarget, type Target } from "./target.ts";

interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly localAddress?: string;
}

interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

interface Console {
  readonly token: string;
  /** Cookie of a valid session. */
  readonly cookie: string;
  ask(path: string, asked?: Asked): Promise<Answered>;
  signIn(token: string, localAddress?: string): Promise<Answered>;
}

async function openConsole({ ports, scene, data }: Target): Promise<Console> {
  const ask = (
    path: string,
    { method = "GET", headers = {}, body, localAddress = "127.0.0.1" }: Asked = {},
  ) =>
    new Promise<Answered>((resolve, reject) => {
      const options = {
        host: "127.0.0.1",
        port: ports.console,
        path,
        method,
        headers,
        localAddress,
        agent: false,
      };
      const asked = request(options, (answer) => {
        let text = "";
        answer.setEncoding("utf8").on("data", (piece: string) => {
          text += piece;
        });
        answer.on("end", () => resolve({ status: answer.statusCode!, headers: answer.headers, text }));
      });
      asked.on("error", reject);
      asked.end(body);
    });
  const signIn = (token: string, localAddress = "127.0.0.1") =>
    ask("/api/session", { ...post({ token }), localAddress });
  const { token } = JSON.parse(await scene.shell.store("console", "token", "--data", data, "--json")) as {
    token: string;
  };
  const opened = await signIn(token);
  assert.equal(opened.status, 200, opened.text);
  return { token, cookie: String(opened.headers["set-cookie"]).split(";")[0]!, ask, signIn };
}

function post(value: unknown, headers: Readonly<Record<string, string>> = {}): Asked {
  return { method: "POST", headers: { "x-store-console": "1", ...headers }, body: JSON.stringify(value) };
}

async function assertNoBucket({ call }: Target): Promise<void> {
  assert.equal((await call({ method: "HEAD", path: "/stolen" })).status, 404, "no bucket was created");
}

async function attackFromOtherSites(t: TestContext, target: Target, { ask, cookie }: Console): Promise<void> {
  const own = `127.0.0.1:${target.ports.console}`;
  const pages: readonly Readonly<Record<string, string>>[] = [
    { origin: "https://evil.example" },
    { origin: "null" },
    { origin: "http://127.0.0.1:1" },
    { origin: `http://${own}.evil.example` },
    { origin: `https://evil.example/http://${own}` },
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
    { "sec-fetch-site": "none" },
  ];
  await t.test("a cross-site request with a valid cookie cannot change anything in the console", async () => {
    for (const headers of pages) {
      const { status } = await ask("/api/buckets", post({ name: "stolen" }, { cookie, ...headers }));
      assert.equal(status, 403, JSON.stringify(headers));
    }
    for (const type of [
      "text/plain",
      "application/x-www-form-urlencoded",
      "multipart/form-data; boundary=a",
    ]) {
      const headers = { cookie, "content-type": type };
      const { status } = await ask("/api/buckets", { method: "POST", headers, body: '{"name":"stolen"}' });
      assert.equal(status, 403, `a simple request of type ${type} lacks the console's own header`);
    }
    await assertNoBucket(target);
  });
  await t.test("the console refuses requests with a foreign Host header (DNS rebinding)", async () => {
    for (const host of [
      "evil.example",
      `${own}.evil.example`,
      "localhost.evil.example",
      "evil.example:80",
      "127.0.0.1@evil.example",
    ]) {
      for (const path of ["/", "/api/buckets", "/api/session"]) {
        const { status, text } = await ask(path, { headers: { host, cookie } });
        assert.ok(status === 421 || status === 400, `${host}${path}: ${status}`);
        assert.doesNotMatch(text, /bucket"|site/, "the response shows nothing of the store");
      }
    }
  });
}

async function attackWithoutSession(t: TestContext, target: Target, { ask, cookie }: Console): Promise<void> {
  const paths = [
    "/api/session",
    "/api/buckets",
    "/api/objects?bucket=bucket",
    "/api/content?bucket=site&key=hello",
    "/api/keys",
    "/api/scripts",
  ];
  await t.test("the console API refuses requests without a session or with a forged one", async () => {
    const [name = ""] = cookie.split("=");
    const forged = [
      undefined,
      `${name}=`,
      `${name}=AAAA`,
      `${cookie}x`,
      `${cookie.slice(0, -1)}`,
      `x=1; ${name}=0`,
      `${name}=__proto__`,
      `${name}=../../x`,
    ];
    for (const path of paths) {
      for (const one of forged) {
        const { status } = await ask(path, one === undefined ? {} : { headers: { cookie: one } });
        assert.equal(status, 401, `${path} with ${one}`);
      }
    }
    const { status } = await ask("/metrics");
    assert.equal(status, 401, "metrics require a token");
    for (const token of ["", "x", "a".repeat(100_000), "__proto__", "constructor"]) {
      const found = await ask("/metrics", { headers: { authorization: `Bearer ${token}` } }).catch(
        () => undefined,
      );
      assert.ok(
        found === undefined || found.status === 401 || found.status === 431,
        `${token.slice(0, 20)}: ${found?.status}`,
      );
    }
  });
  await t.test("path traversal in console URLs does not reach other files", async () => {
    const head = `HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`;
    for (const path of [
      "/../package.json",
      "/..%2f..%2fpackage.json",
      "/%2e%2e/%2e%2e/package.json",
      "/....//package.json",
      "/..\\..\\package.json",
      "//etc/passwd",
      "/app.js/../../handler.ts",
      "/app.js%00.html",
      "/index.html/../app.js/..",
      "/.store/secret.key",
      "file:///etc/passwd",
    ]) {
      const { statuses, text } = await exchange(target.ports.console, `GET ${path} ${head}`);
      assert.ok(statuses.length === 1 && statuses[0]! >= 400 && statuses[0]! < 500, `${path}: ${statuses}`);
      assert.doesNotMatch(text, /"version"|root:|import /, path);
    }
  });
  await t.test("the console refuses HTTP methods that its routes do not support", async () => {
    for (const method of ["PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND", "TRACE"]) {
      for (const path of ["/", "/app.js", "/api/buckets", "/healthz"]) {
        const headers = { cookie, "x-store-console": "1" };
        const { status } = await ask(path, { method, headers });
        assert.ok(status >= 400 && status < 500, `${method} ${path}: ${status}`);
      }
    }
    await assertNoBucket(target);
  });
}

test("cross-site requests, rebound host names, forged sessions and guessed tokens get no access to the console", async (t) => {
  const target = await openTarget(t);
  const opened = await openConsole(target);
  const { ask, cookie, token, signIn } = opened;
  assert.equal(
    (await ask("/api/buckets", { headers: { cookie } })).status,
    200,
    "a valid session gets a response",
  );
  await attackFromOtherSites(t, target, opened);
  await attackWithoutSession(t, target, opened);
  await t.test("the console refuses bodies that are not JSON or too large", async () => {
    for (const body of [
      "",
      "null",
      "[]",
      "{",
      "1",
      `{"token":${"[".repeat(100_000)}`,
      `{"token":"${"x".repeat(5_000_000)}"}`,
    ]) {
      const found = await ask("/api/session", { ...post({}), body }).catch(() => undefined);
      assert.ok(
        found === undefined || (found.status >= 400 && found.status < 500),
        `${body.slice(0, 20)}: ${found?.status}`,
      );
    }
  });
  await t.test("guessing the secret of a token does not lock out its owner at another address", async () => {
    const wrong = `${token.slice(0, -5)}wrong`;
    const tries = [];
    for (let i = 0; i < 12; i++) tries.push((await signIn(wrong)).status);
    assert.ok(!tries.includes(200));
    assert.equal(tries.at(-1), 429, "the attacker has to wait");
    const { status, text } = await signIn(token, "127.0.0.2");
    assert.equal(status, 200, `from another address: ${text}`);
  });
  await target.assertServes();
  assert.doesNotMatch(target.server.log(), /The console failed/);
});
