// `env.ASSETS.fetch()` of a script in a real workerd.
import assert from "node:assert/strict";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { AssetsOptions } from "../../../src/script/bindings.ts";
import { openSandboxAssets } from "../../../src/script/sandbox/assets-endpoint.ts";
import { project } from "../../support/projects.ts";
import { serveOnSocket } from "../../support/workerd/socket-client.ts";
import { startModules } from "../../support/workerd/start-modules.ts";

async function startScript(t: TestContext, source: string, options: Partial<AssetsOptions> = {}) {
  const { directory, write } = await project(t);
  await write("public/about.html", "about");
  await write("public/404.html", "nothing here");
  await write("public/ü.bin", new Uint8Array(400_000).fill(7));
  await write("public/_redirects", "/old /about 301\n");
  const { endpoint, close, bindingKind } = await openSandboxAssets({
    assets: {
      ...{ directory: join(directory, "public"), binding: "ASSETS", notFoundHandling: "404-page" },
      ...{ htmlHandling: "auto-trailing-slash", runWorkerFirst: false },
      ...options,
    },
    ...{ mode: "serve", location: "memory:", compatibilityDate: "2026-10-01", compatibilityFlags: [] },
  });
  t.after(close);
  const { path } = await serveOnSocket(t, endpoint);
  const field = bindingKind === "service" ? "service" : "kvNamespace";
  const { port } = await startModules(t, {
    modules: [{ name: "script.js", kind: "esm", contents: source }],
    bindings: [`(name = "ASSETS", ${field} = "assets")`],
    services: { assets: path },
  });
  return async () => (await fetch(`http://127.0.0.1:${port}/`)).json();
}

test("a script in workerd fetches assets by URL, and redirects are followed", async (t) => {
  const ask = await startScript(
    t,
    `export default {
      async fetch(request, env) {
        const read = async (path, init) => {
          const response = await env.ASSETS.fetch(new URL(path, request.url), init);
          const bytes = await response.arrayBuffer();
          const text = bytes.byteLength > 100 ? bytes.byteLength : new TextDecoder().decode(bytes);
          return [response.status, text, response.headers.get("location")];
        };
        return Response.json([
          await read("/about"), await read("/about.html"), await read("/old"), await read("/missing"),
          await read("/ü.bin"), await read("/ü.bin", { headers: { range: "bytes=0-9" } }),
          await read("/old", { redirect: "manual" }), await read("/about", { method: "HEAD" }),
          await read("/about", { method: "POST", body: "x" }), await read("http://other.example/about"),
        ]);
      },
    };`,
  );
  assert.deepEqual(await ask(), [
    [200, "about", null],
    [200, "about", null],
    [200, "about", null],
    [404, "nothing here", null],
    [200, 400_000, null],
    [206, "\u0007".repeat(10), null],
    [301, "", "/about"],
    [200, "", null],
    [405, "", null],
    [200, "about", null],
  ]);
});

test("a Workers Site in workerd reads its files from a namespace", async (t) => {
  const ask = await startScript(
    t,
    `export default {
      async fetch(request, env) {
        const refused = await env.ASSETS.put("a", "b").catch((error) => error.message);
        const bytes = await env.ASSETS.get("ü.bin", "arrayBuffer");
        return Response.json([await env.ASSETS.get("about.html"), await env.ASSETS.get("x"), bytes.byteLength, refused]);
      },
    };`,
    { binding: "__STATIC_CONTENT", notFoundHandling: "none", htmlHandling: "none" },
  );
  const reason = "env.__STATIC_CONTENT supports only get and getWithMetadata of one key.";
  assert.deepEqual(await ask(), ["about", null, 400_000, `KV PUT failed: 400 ${reason}`]);
});
