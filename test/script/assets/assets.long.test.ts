// Static assets served by the real server without a script: contents, conditional requests, ranges,
// methods and hostile paths.
import assert from "node:assert/strict";
import { once } from "node:events";
import { rename, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { converse, open, restOf } from "../client.ts";
import { openScene, type Scene } from "../scene.ts";
import type { Server } from "../server.ts";

const config = (further: string) =>
  `name = "site"\ncompatibility_date = "2026-11-01"\n[assets]\ndirectory = "public"\n${further}\n`;

async function siteScene(
  t: Pick<TestContext, "after">,
  files: Readonly<Record<string, string | Uint8Array>>,
  further = "",
): Promise<Scene> {
  const scene = await openScene(t);
  await scene.write("store.toml", config(further));
  for (const [name, content] of Object.entries(files)) await scene.write(`public/${name}`, content);
  return scene;
}

test("assets are served with Content-Type, ETag and Cache-Control, also in a project without a script", async (t) => {
  const scene = await siteScene(t, {
    "index.html": "<h1>Home</h1>",
    "app.js": "export {};",
    "style.css": "a{}",
    LICENSE: "free",
    "empty.txt": "",
    "größe/süß & 100%.txt": "UTF-8",
    ".well-known/security.txt": "Contact: us",
    "big.bin": Buffer.alloc(1_000_000, "0123456789"),
  });
  const server = await scene.start("serve");

  await t.test("an HTML page is served at its canonical path, and other paths redirect to it", async () => {
    const { status, headers, text } = await server.ask("/");
    assert.equal(status, 200);
    assert.equal(text, "<h1>Home</h1>");
    assert.equal(headers["content-type"], "text/html; charset=utf-8");
    assert.equal(headers["cache-control"], "public, max-age=0, must-revalidate");
    assert.match(String(headers.etag), /^"[0-9a-f]{32}"$/);
    const redirected = await server.ask("/index.html?a=1");
    assert.deepEqual([redirected.status, redirected.headers.location], [307, "/?a=1"]);
  });

  await t.test("an asset's file extension sets its Content-Type; without one it is omitted", async () => {
    assert.equal((await server.ask("/app.js")).headers["content-type"], "text/javascript; charset=utf-8");
    assert.equal((await server.ask("/style.css")).headers["content-type"], "text/css; charset=utf-8");
    const license = await server.ask("/LICENSE");
    assert.deepEqual([license.text, license.headers["content-type"]], ["free", undefined]);
    const empty = await server.ask("/empty.txt");
    assert.deepEqual([empty.status, empty.headers["content-length"], empty.text], [200, "0", ""]);
  });

  await t.test("an asset is served at its percent-encoded path; other encodings redirect there", async () => {
    const path = "/gr%C3%B6%C3%9Fe/s%C3%BC%C3%9F%20%26%20100%25.txt";
    assert.equal((await server.ask(path)).text, "UTF-8");
    const other = await server.ask(path.replace("%26", "&"));
    assert.deepEqual([other.status, other.headers.location], [307, path]);
    assert.equal((await server.ask("/.well-known/security.txt")).text, "Contact: us");
  });

  await t.test("If-Match and If-None-Match are compared with the etag of an asset", async () => {
    const { etag } = (await server.ask("/app.js")).headers;
    const conditional = (headers: Record<string, string>) => server.ask({ path: "/app.js", headers });
    for (const value of [etag!, `W/${etag}`, `"other", ${etag}`, "*"]) {
      const answer = await conditional({ "if-none-match": value });
      assert.deepEqual([answer.status, answer.text, answer.headers.etag], [304, "", etag], value);
    }
    assert.equal((await conditional({ "if-none-match": '"other"' })).status, 200);
    assert.equal((await conditional({ "if-none-match": "not an etag" })).status, 200);
    assert.equal((await conditional({ "if-match": '"other"' })).status, 412);
    assert.equal((await conditional({ "if-match": etag! })).status, 200);
  });

  await t.test("range requests return the requested bytes of small and large assets", async () => {
    for (const path of ["/app.js", "/big.bin"]) {
      const whole = (await server.ask(path)).bytes;
      const ask = (range: string, headers = {}) => server.ask({ path, headers: { range, ...headers } });
      const first = await ask("bytes=0-3");
      assert.deepEqual([first.status, first.headers["content-length"]], [206, "4"]);
      assert.equal(first.headers["content-range"], `bytes 0-3/${whole.length}`);
      assert.deepEqual(first.bytes, whole.subarray(0, 4));
      assert.deepEqual((await ask("bytes=-5")).bytes, whole.subarray(-5));
      assert.deepEqual((await ask("bytes=7-")).bytes, whole.subarray(7));
      const past = await ask("bytes=2000000-");
      assert.deepEqual([past.status, past.headers["content-range"]], [416, `bytes */${whole.length}`]);
      assert.equal((await ask("bytes=0-1,3-4")).status, 200);
      assert.equal((await ask("lines=1")).status, 200);
      assert.equal((await ask("bytes=0-3", { "if-range": String(first.headers.etag) })).status, 206);
      assert.equal((await ask("bytes=0-3", { "if-range": '"other"' })).bytes.length, whole.length);
    }
  });

  await t.test("HEAD of an asset returns the headers of GET, and POST to an asset returns 405", async () => {
    for (const path of ["/app.js", "/big.bin"]) {
      const get = await server.ask(path);
      const head = await server.ask({ path, method: "HEAD" });
      assert.deepEqual([head.status, head.text], [200, ""]);
      for (const name of ["etag", "content-length", "content-type"]) {
        assert.equal(head.headers[name], get.headers[name], name);
      }
      const post = await server.ask({ path, method: "POST", body: "x" });
      assert.deepEqual([post.status, post.headers.allow], [405, "GET, HEAD"]);
    }
    assert.equal((await server.ask({ path: "/missing", method: "POST", body: "x" })).status, 404);
  });

  await t.test("a request for a missing asset or a folder without an index page returns 404", async () => {
    for (const path of ["/missing", "/.well-known/", "/.well-known", "/app.js/", "/App.js"]) {
      assert.equal((await server.ask(path)).status, 404, path);
    }
  });
});

test("no request path reaches a file outside of the assets directory", async (t) => {
  const scene = await siteScene(t, { "a/index.html": "a", "own.txt": "own", "x\\y": "backslash" });
  const outside = await scene.write("secret.txt", "secret");
  const link = (target: string, name: string) => symlink(target, join(scene.directory, "public", name));
  await link(outside, "leak.txt");
  await link("../secret.txt", "leak-relative.txt");
  await link(scene.directory, "leak-folder");
  await link("own.txt", "inside.txt");
  await link("missing", "dangling.txt");
  const server = await scene.start("serve");
  const targets = [
    "/../secret.txt",
    "/a/../../secret.txt",
    "/%2e%2e/secret.txt",
    "/%2e%2e%2fsecret.txt",
    "/..%2fsecret.txt",
    "/..%5csecret.txt",
    "/..\\secret.txt",
    "/a/..%252f..%252fsecret.txt",
    "//secret.txt",
    "/./../secret.txt",
    "/%00/../secret.txt",
    "/own.txt%00",
    "/own.txt%00.html",
    "/%c0%ae%c0%ae/secret.txt",
    "/leak.txt",
    "/leak-relative.txt",
    "/leak-folder/secret.txt",
    "/dangling.txt",
    `${join(scene.directory, "secret.txt")}`,
    `/${join(scene.directory, "secret.txt")}`,
    "http://example.com/../secret.txt",
    "http://example.com/leak.txt",
    `/${"a/".repeat(4000)}`,
  ];
  for (const target of targets) {
    const socket = await converse(
      server.port,
      `GET ${target} HTTP/1.1`,
      "Host: example.com",
      "Connection: close",
      "",
    );
    const answer = await restOf(socket);
    assert.match(answer, /^HTTP\/1\.1 (307|400|404) /, target);
    assert.ok(!answer.includes("secret\n") && !answer.endsWith("secret"), target);
  }
  assert.equal((await server.ask("/inside.txt")).text, "own");
  assert.equal((await server.ask("/x%5Cy")).text, "backslash");
  assert.match(server.log(), /leak\.txt: not served: a symbolic link must lead to a file in the assets/);
});

test("a project folder used as assets directory does not expose the store's data or secrets", async (t) => {
  const scene = await siteScene(t, {});
  await scene.write("store.toml", config("").replace('"public"', '"."'));
  await scene.write(".env", "secret");
  await scene.write("sub/.dev.vars.production", "secret");
  await scene.write("index.html", "home");
  await symlink(".store/secret.key", join(scene.directory, "link.txt"));
  await scene.secret("KEY", "value");
  const server = await scene.start("serve");
  assert.equal((await server.ask("/")).text, "home");
  const paths = [
    "/.store/secret.key",
    "/.store/registry.db",
    "/link.txt",
    "/.env",
    "/sub/.dev.vars.production",
  ];
  for (const path of paths) assert.equal((await server.ask(path)).status, 404, path);
  assert.match(server.log(), /\.store: not served: it holds the store's data or secrets/);
});

test("an asset that is replaced by a symbolic link after the server has started is not served", async (t) => {
  const scene = await siteScene(t, { "swap/a.txt": "a", "b.txt": "b" });
  const outside = await scene.write("outside/a.txt", "secret");
  const server = await scene.start("serve");
  const at = (name: string) => join(scene.directory, "public", name);
  await rename(at("swap"), at("moved"));
  await symlink(join(scene.directory, "outside"), at("swap"));
  await rm(at("b.txt"));
  await symlink(outside, at("b.txt"));
  assert.equal((await server.ask("/swap/a.txt")).status, 404);
  assert.equal((await server.ask("/b.txt")).status, 404);
});

test("_headers, _redirects and .assetsignore apply, are not served, and their errors are logged once", async (t) => {
  const scene = await siteScene(
    t,
    {
      "404.html": "not here",
      "new.html": "new",
      "draft.html": "draft",
      "app.js.map": "{}",
      _headers: "/*\n  X-Frame-Options: DENY\n  broken\n",
      _redirects: "/old /new 301\n/one-word\n",
      ".assetsignore": "*.map\ndraft.*\n",
      "sub/_headers": "an asset like others",
    },
    'not_found_handling = "404-page"',
  );
  const server = await scene.start("serve");
  const old = await server.ask("/old?q=1");
  assert.deepEqual(
    [old.status, old.headers.location, old.headers["x-frame-options"]],
    [301, "/new?q=1", "DENY"],
  );
  const page = await server.ask("/new");
  assert.deepEqual([page.text, page.headers["x-frame-options"]], ["new", "DENY"]);
  for (const path of ["/_headers", "/_redirects", "/.assetsignore", "/app.js.map", "/draft"]) {
    const missing = await server.ask(path);
    assert.deepEqual([missing.status, missing.text], [404, "not here"], path);
  }
  assert.equal((await server.ask("/sub/_headers")).text, "an asset like others");
  assert.equal(server.log().match(/_headers:3: A header is written/g)?.length, 1);
  assert.equal(server.log().match(/_redirects:2: A rule has two or three words/g)?.length, 1);
});

test("sending an asset is aborted if its file changes meanwhile", async (t) => {
  const size = 64 * 1024 * 1024;
  const scene = await siteScene(t, {});
  const file = join(scene.directory, "public/big.bin");
  const changes = [() => truncate(file, 1000), () => writeFile(file, Buffer.alloc(size, "b"))];
  await scene.write("public/big.bin", Buffer.alloc(size, "a"));
  const server = await scene.start("serve");
  for (const change of changes) {
    await writeFile(file, Buffer.alloc(size, "a"));
    const answer = await open(server.port, { path: "/big.bin" });
    assert.equal(answer.headers["content-length"], String(size));
    await once(answer, "readable");
    await change();
    await assert.rejects(async () => {
      for await (const _ of answer);
    });
  }
  await server.told(/big\.bin changed while it was sent/);
  const { status, bytes } = await server.ask("/big.bin");
  assert.deepEqual([status, bytes.length, bytes[0]], [200, size, 98]);
});

test("store serve serves changed assets immediately, and new assets after a restart", async (t) => {
  const scene = await siteScene(t, { "a.txt": "before" });
  const server = await scene.start("serve");
  const before = await server.ask("/a.txt");
  await scene.write("public/a.txt", "changed");
  await scene.write("public/b.txt", "new");
  let after = await server.ask("/a.txt");
  while (after.text !== "changed") after = await server.ask("/a.txt");
  assert.notEqual(after.headers.etag, before.headers.etag);
  assert.equal((await server.ask("/b.txt")).status, 404);
  await server.stop();
  const again = await scene.start("serve");
  assert.equal((await again.ask("/b.txt")).text, "new");
});

test("store dev detects changed, new and removed assets at the next request", async (t) => {
  const scene = await siteScene(t, { "a.txt": "one" });
  const server = await scene.start("dev");
  const publicFolder = join(scene.directory, "public");
  for (let i = 0; i < 20; i++) {
    await scene.write("public/a.txt", `a${i % 10}`);
    assert.equal((await server.ask("/a.txt")).text, `a${i % 10}`);
    await scene.write(`public/deep${i}/er/b.html`, `b${i}`);
    assert.equal((await server.ask(`/deep${i}/er/b`)).text, `b${i}`);
    await scene.write(`public/deep${i}/er/c.html`, `c${i}`);
    assert.equal((await server.ask(`/deep${i}/er/c`)).text, `c${i}`);
    await rm(join(publicFolder, `deep${i}`), { recursive: true });
    assert.equal((await server.ask(`/deep${i}/er/b`)).status, 404);
  }
  await rm(publicFolder, { recursive: true });
  assert.equal((await server.ask("/a.txt")).status, 404);
  await scene.write("public/a.txt", "built again");
  assert.equal((await server.ask("/a.txt")).text, "built again");
  await seesRuleFile(scene, server);
});

async function seesRuleFile(scene: Scene, server: Server): Promise<void> {
  await scene.write("public/_headers", "/*\n  x-new: yes\n  broken\n");
  assert.equal((await server.ask("/a.txt")).headers["x-new"], "yes");
  await server.told(/_headers:3: A header is written/);
}

test("a missing assets directory is reported before the server starts", async (t) => {
  const scene = await openScene(t);
  await scene.write("store.toml", config(""));
  const { code, stderr } = await scene.shell.run(["dev"]);
  assert.equal(code, 1);
  assert.match(stderr, /store\.toml:4:13: There is no folder "public"\./);
});
