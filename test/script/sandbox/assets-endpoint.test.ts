// Assets of a sandboxed script: its endpoint, and requests that are served before the script.
import assert from "node:assert/strict";
import { rename, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import type { HttpHandler } from "../../../src/http/server/listen.ts";
import type { AssetsOptions } from "../../../src/script/bindings.ts";
import { openSandboxAssets } from "../../../src/script/sandbox/assets-endpoint.ts";
import { project } from "../../support/projects.ts";
import { serveOnSocket } from "../../support/workerd/socket-client.ts";

async function openScene(t: TestContext, options: Partial<AssetsOptions> = {}) {
  const { directory, write } = await project(t);
  const files = {
    "index.html": "home",
    "about.html": "about",
    "404.html": "nothing here",
    "a b/ü.txt": "text",
    "large.bin": new Uint8Array(400_000).fill(7),
    _redirects: "/old /about 301\n/away https://example.com/x 302\n",
    _headers: "/about\n  X-Own: yes\n",
  };
  for (const [name, content] of Object.entries(files)) await write(join("public", name), content);
  const open = async () => {
    const assets = await openSandboxAssets({
      assets: {
        ...{ directory: join(directory, "public"), binding: "ASSETS", notFoundHandling: "404-page" },
        ...{ htmlHandling: "auto-trailing-slash", runWorkerFirst: false },
        ...options,
      },
      ...{ mode: "serve", location: "memory:", compatibilityDate: "2026-10-01", compatibilityFlags: [] },
    });
    t.after(() => assets.close());
    return assets;
  };
  return { directory, write, open };
}

test("the endpoint serves assets with their rules, ranges and conditions", async (t) => {
  const { open } = await openScene(t);
  const { endpoint, bindingKind } = await open();
  assert.equal(bindingKind, "service");
  const { send } = await serveOnSocket(t, endpoint);
  const about = await send("/about");
  assert.deepEqual([about.status, about.text, about.headers["x-own"]], [200, "about", "yes"]);
  const etag = about.headers.etag!;
  assert.equal((await send("/about", { headers: { "if-none-match": etag } })).status, 304);
  assert.equal((await send("/about.html")).headers.location, "/about");
  assert.equal((await send("/old?a=1")).headers.location, "/about?a=1");
  assert.equal((await send("/away")).headers.location, "https://example.com/x");
  assert.equal((await send("/a%20b/%C3%BC.txt")).text, "text");
  const range = await send("/large.bin", { headers: { range: "bytes=10-19" } });
  assert.deepEqual([range.status, range.bytes.length], [206, 10]);
  assert.equal((await send("/large.bin")).bytes.length, 400_000);
  const missing = await send("/missing");
  assert.deepEqual([missing.status, missing.text], [404, "nothing here"]);
  assert.equal((await send("/about", { method: "POST", body: "x" })).status, 405);
  assert.equal((await send("/about", { headers: { host: "a/b" } })).status, 400);
});

test("no request and no link reaches a file outside the folder", async (t) => {
  const { directory, write, open } = await openScene(t);
  const secret = await write("outside/secret.txt", "SECRET");
  const folder = join(directory, "public");
  await symlink(secret, join(folder, "link.txt"));
  await symlink("../outside/secret.txt", join(folder, "relative.txt"));
  await symlink(dirname(secret), join(folder, "folder"));
  await symlink("/proc/self/environ", join(folder, "environ"));
  await symlink("about.html", join(folder, "inside.txt"));
  await write("public/swapped/secret.txt", "harmless");
  const { endpoint, serveBefore } = await open();
  const script: HttpHandler = () => ({ status: 200, headers: [], body: "script" });
  // The folder of a file that was indexed becomes a link later.
  await rename(join(folder, "swapped"), join(directory, "moved"));
  await symlink(dirname(secret), join(folder, "swapped"));
  const paths = [
    ...["/link.txt", "/relative.txt", "/folder/secret.txt", "/environ", "/swapped/secret.txt"],
    ...["/../outside/secret.txt", "/%2e%2e/outside/secret.txt", "/..%2foutside%2fsecret.txt"],
    ...["/a b/../../outside/secret.txt", "/..\\outside\\secret.txt", "/_redirects", "/_headers"],
    ...[
      "//outside/secret.txt",
      `http://x/../outside/secret.txt`,
      secret,
      `/${secret}`,
      "/%00",
      "/about%00.txt",
    ],
  ];
  for (const handler of [endpoint, serveBefore(script)]) {
    const { send } = await serveOnSocket(t, handler);
    for (const path of paths) {
      const { text, status } = await send(encodeURI(path).replaceAll("%25", "%"));
      assert.doesNotMatch(text, /SECRET|PATH=|X-Own|example\.com/, path);
      assert.ok(status === 404 || text === "script" || status === 307, `${path}: ${status} ${text}`);
    }
    assert.equal((await send("/inside.txt")).text, "about", "a link inside the folder is followed");
  }
});

test("requests get an asset first or reach the script first, as configured", async (t) => {
  const script: HttpHandler = ({ target }) => ({ status: 200, headers: [], body: `script ${target}` });
  const rows: readonly (readonly [Partial<AssetsOptions>, Readonly<Record<string, string>>])[] = [
    [{}, { "/about": "about", "/missing": "script /missing" }],
    [{ runWorkerFirst: true }, { "/about": "script /about", "/missing": "script /missing" }],
    [
      { runWorkerFirst: ["/api/*", "!/api/docs"] },
      {
        "/about": "about",
        "/api/x": "script /api/x",
        "/api/docs": "nothing here",
        "/missing": "nothing here",
      },
    ],
  ];
  for (const [options, expected] of rows) {
    const { open } = await openScene(t, options);
    const { send } = await serveOnSocket(t, (await open()).serveBefore(script));
    for (const [path, text] of Object.entries(expected)) assert.equal((await send(path)).text, text, path);
    assert.equal((await send("/about", { headers: { host: "a/b" } })).status, 400);
  }
  const { open } = await openScene(t);
  const { send } = await serveOnSocket(t, (await open()).serveBefore(undefined));
  assert.deepEqual([(await send("/missing")).status, (await send("/")).text], [404, "home"]);
});

test("the binding of a Workers Site is a read-only namespace of the files", async (t) => {
  const { open } = await openScene(t, {
    binding: "__STATIC_CONTENT",
    notFoundHandling: "none",
    htmlHandling: "none",
  });
  const { endpoint, bindingKind } = await open();
  assert.equal(bindingKind, "key-value namespace");
  const { send } = await serveOnSocket(t, endpoint);
  const get = (key: string) => send(`/${encodeURIComponent(key)}?urlencoded=true`);
  assert.equal((await get("about.html")).text, "about");
  assert.equal((await get("a b/ü.txt")).text, "text");
  assert.equal((await get("large.bin")).bytes.length, 400_000);
  for (const key of ["missing", "about", "../x", "a%20b/ü.txt", "_headers"])
    assert.equal((await get(key)).status, 404, key);
  const reason = "env.__STATIC_CONTENT supports only get and getWithMetadata of one key.";
  for (const [method, target] of [
    ["PUT", "/a?urlencoded=true"],
    ["DELETE", "/a?urlencoded=true"],
    ["GET", "/"],
    ["POST", "/bulk/get"],
  ] as const) {
    const { status, statusText } = await send(target, { method });
    assert.deepEqual([status, statusText], [400, reason], `${method} ${target}`);
  }
});
