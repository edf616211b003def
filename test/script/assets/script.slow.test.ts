// Static assets together with a script: which of the two answers, and responses of env.ASSETS.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { openScene, type Scene } from "../scene.ts";

interface Site {
  readonly script?: string;
  readonly assets?: string;
  readonly date?: string;
}

const echo = `export default { fetch: async (request) =>
  new Response("script: " + request.method + " " + new URL(request.url).pathname + " " + (await request.text())) };`;

async function siteScene(t: Pick<TestContext, "after">, site: Site): Promise<Scene> {
  const { script = echo, assets = "", date = "2026-11-01" } = site;
  const scene = await openScene(t);
  await scene.write("index.js", script);
  await scene.write(
    "store.toml",
    `name = "site"\nmain = "index.js"\ncompatibility_date = "${date}"\n[assets]\ndirectory = "public"\n${assets}\n`,
  );
  await scene.write("public/index.html", "home");
  await scene.write("public/page.html", "page");
  await scene.write("public/404.html", "not here");
  await scene.write("public/big.bin", Buffer.alloc(1_000_000, "abcdefghij"));
  return scene;
}

const navigation = { "sec-fetch-mode": "navigate" };

test("a request is answered by a matching asset, or otherwise by the script", async (t) => {
  const scene = await siteScene(t, {});
  const server = await scene.start("serve");
  assert.equal((await server.ask("/")).text, "home");
  assert.equal((await server.ask("/page")).text, "page");
  assert.equal((await server.ask("/page.html")).status, 307);
  assert.equal((await server.ask("/api/x")).text, "script: GET /api/x ");
  assert.equal((await server.ask({ path: "/api", headers: navigation })).text, "script: GET /api ");
  const posted = await server.ask({ path: "/page", method: "POST", body: "form" });
  assert.equal(posted.text, "script: POST /page form");
  assert.equal((await server.ask({ path: "/", headers: { host: "127.9999.1.1" } })).status, 400);
});

test("with not_found_handling, browser navigation reaches the script only before compatibility date 2025-04-01", async (t) => {
  const assets = 'not_found_handling = "single-page-application"';
  const scene = await siteScene(t, { assets });
  const server = await scene.start("serve");
  const shown = await server.ask({ path: "/deep/link", headers: navigation });
  assert.deepEqual([shown.status, shown.text], [200, "home"]);
  assert.equal((await server.ask("/deep/link")).text, "script: GET /deep/link ");
  const older = await siteScene(t, { assets, date: "2025-03-31" });
  const before = await older.start("serve");
  assert.equal(
    (await before.ask({ path: "/deep/link", headers: navigation })).text,
    "script: GET /deep/link ",
  );
});

test("run_worker_first = true sends every request to the script", async (t) => {
  const scene = await siteScene(t, { assets: "run_worker_first = true" });
  const server = await scene.start("serve");
  assert.equal((await server.ask("/page")).text, "script: GET /page ");
});

test("run_worker_first with patterns sends only matching paths to the script first", async (t) => {
  const assets = 'run_worker_first = ["/api/*", "!/api/docs/*"]\nnot_found_handling = "404-page"';
  const scene = await siteScene(t, { assets });
  await scene.write("public/api/users.html", "an asset that the script hides");
  await scene.write("public/api/docs/index.html", "docs");
  const server = await scene.start("serve");
  assert.equal((await server.ask("/api/users")).text, "script: GET /api/users ");
  assert.equal((await server.ask("/api/docs/")).text, "docs");
  const excluded = await server.ask("/api/docs/missing");
  assert.deepEqual([excluded.status, excluded.text], [404, "not here"]);
  assert.equal((await server.ask({ path: "/api/docs/", method: "POST", body: "x" })).status, 405);
  const missing = await server.ask("/missing");
  assert.deepEqual([missing.status, missing.text], [404, "not here"]);
});

test("env.ASSETS.fetch returns assets for any host and follows their redirects", async (t) => {
  const script = `export default { async fetch(request, env) {
    const url = new URL(request.url);
    const { pathname, searchParams } = url;
    if (pathname === "/pass") return env.ASSETS.fetch(request);
    if (pathname === "/self") return env.ASSETS.fetch(new URL(searchParams.get("path"), url), request);
    const init = JSON.parse(searchParams.get("init") ?? "{}");
    const response = await env.ASSETS.fetch("https://any.example" + searchParams.get("path"), init);
    const head = { status: response.status, ...Object.fromEntries(response.headers) };
    return Response.json({ head, text: (await response.text()).slice(0, 20) });
  } };`;
  const assets = 'binding = "ASSETS"\nrun_worker_first = true\nnot_found_handling = "404-page"';
  const scene = await siteScene(t, { script, assets });
  const server = await scene.start("dev");
  async function asset(path: string, init: object = {}) {
    const query = new URLSearchParams({ path, init: JSON.stringify(init) });
    const { text } = await server.ask(`/asset?${query}`);
    return JSON.parse(text) as { head: Record<string, string | number>; text: string };
  }
  const page = await asset("/page");
  assert.deepEqual([page.head.status, page.text], [200, "page"]);
  assert.equal(page.head["content-type"], "text/html; charset=utf-8");
  const followed = await asset("/page.html");
  assert.deepEqual([followed.head.status, followed.text], [200, "page"]);
  const manual = await asset("/page.html", { redirect: "manual" });
  assert.deepEqual([manual.head.status, manual.head.location], [307, "/page"]);
  const missing = await asset("/missing");
  assert.deepEqual([missing.head.status, missing.text], [404, "not here"]);
  const known = await asset("/page", { headers: { "if-none-match": String(page.head.etag) } });
  assert.deepEqual([known.head.status, known.text], [304, ""]);
  assert.equal((await asset("/page", { method: "POST" })).head.status, 405);
  const part = await asset("/big.bin", { headers: { range: "bytes=10-14" } });
  assert.deepEqual([part.head.status, part.text], [206, "abcde"]);

  const whole = await server.ask("/self?path=/big.bin");
  assert.deepEqual([whole.bytes.length, whole.headers["content-length"]], [1_000_000, "1000000"]);
  const head = await server.ask({ path: "/self?path=/big.bin", method: "HEAD" });
  assert.deepEqual([head.status, head.headers["content-length"], head.text], [200, "1000000", ""]);
  const passed = await server.ask("/pass");
  assert.deepEqual([passed.status, passed.text], [404, "not here"]);
});

test("the server's start message names the assets directory and its binding", async (t) => {
  const scene = await siteScene(t, { assets: 'binding = "ASSETS"' });
  const server = await scene.start("serve");
  const [script] = server.announced.scripts as readonly { readonly assets?: object }[];
  assert.deepEqual(script!.assets, { binding: "ASSETS", directory: `${scene.directory}/public` });
});
