// Workers Sites: a script reads the files of a folder through a namespace and an imported manifest.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { openScene, type Scene } from "../scene.ts";
import { processTier, sandboxTier } from "../tier.ts";

const head = 'name = "site"\nmain = "src/index.js"\ncompatibility_date = "2026-01-01"\n';
const site = '[site]\nbucket = "./public"\n';

const lookUp = `async function serve(request, files, manifest) {
  const { pathname, searchParams } = new URL(request.url);
  const path = decodeURIComponent(pathname.slice(1));
  const type = searchParams.get("type") ?? undefined;
  const value = await files.get(JSON.parse(manifest)[path] ?? path, type && { type });
  if (value === null) return new Response("not found", { status: 404 });
  return type === "json" ? Response.json(value) : new Response(value);
}
`;

async function openSite(t: Pick<TestContext, "after">, source: string, config = head + site): Promise<Scene> {
  const scene = await openScene(t);
  await writeSite(scene, source, config);
  return scene;
}

async function writeSite(scene: Scene, source: string, config = head + site): Promise<void> {
  await scene.write("src/index.js", source);
  await scene.write("wrangler.toml", config);
  await scene.write("public/style.css", "body {}");
  await scene.write("public/deep/ä b.json", '{"a":1}');
  await scene.write("public/page.html", "page");
}

test("a script in the module syntax can read the files of its site, no other files, and cannot write", async (t) => {
  const scene = await openSite(
    t,
    `import manifest from "__STATIC_CONTENT_MANIFEST";
${lookUp}
export default {
  async fetch(request, env) {
    if (request.method === "PUT") await env.__STATIC_CONTENT.put("a", "b");
    return serve(request, env.__STATIC_CONTENT, manifest);
  },
};
`,
  );
  const { ask, log } = await scene.start("dev");
  assert.doesNotMatch(log(), /Store does not have|no effect/);
  for (const type of ["", "?type=text", "?type=arrayBuffer", "?type=stream"]) {
    assert.equal((await ask(`/style.css${type}`)).text, "body {}", type);
  }
  assert.equal((await ask("/deep/%C3%A4%20b.json?type=json")).text, '{"a":1}');
  assert.equal((await ask("/page.html")).text, "page");
  for (const path of ["/page", "/none.css", "/..%2Fwrangler.toml", "/deep"]) {
    assert.equal((await ask(path)).status, 404, path);
  }
  const refused = await ask({ path: "/a", method: "PUT", body: "b" });
  assert.match(refused.text, /TypeError: env\.__STATIC_CONTENT only reads/);
});

const nameLookUp = `import manifest from "__STATIC_CONTENT_MANIFEST";
export default {
  async fetch(request, env) {
    const name = decodeURIComponent(new URL(request.url).pathname.slice(1));
    return name === "" ? new Response(manifest) : new Response(await env.__STATIC_CONTENT.get(name));
  },
};
`;

for (const { suffix, needs, open } of [processTier, sandboxTier]) {
  test(
    `the manifest has a name with a hash for each file of a site, and the names can be read${suffix}`,
    needs,
    async (t) => {
      const scene = await open(t);
      await writeSite(scene, nameLookUp);
      await scene.write("public/app.0123456789.js", "bundled");
      await scene.write("public/LICENSE", "license");
      const server = await scene.start("dev", { configs: [join(scene.directory, "wrangler.toml")] });
      const names = async () => JSON.parse((await server.ask("/")).text) as Record<string, string>;
      const manifest = await names();
      const hash = (text: string) => createHash("sha256").update(text).digest("hex").slice(0, 10);
      assert.deepEqual(manifest, {
        LICENSE: `LICENSE.${hash("license")}`,
        "app.0123456789.js": `app.0123456789.${hash("bundled")}.js`,
        "deep/ä b.json": `deep/ä b.${hash('{"a":1}')}.json`,
        "page.html": `page.${hash("page")}.html`,
        "style.css": `style.${hash("body {}")}.css`,
      });
      const contents: Record<string, string> = {
        LICENSE: "license",
        "app.0123456789.js": "bundled",
        "deep/ä b.json": '{"a":1}',
      };
      for (const [path, content] of Object.entries(contents)) {
        for (const name of [(manifest as Record<string, string>)[path]!, path]) {
          assert.equal((await server.ask(`/${encodeURIComponent(name)}`)).text, content, name);
        }
      }
      const from = server.log().length;
      await scene.write("public/deep/new.txt", "new");
      await server.told(/changed: reloaded/, from);
      assert.equal((await names())["deep/new.txt"], `deep/new.${hash("new")}.txt`);
    },
  );
}

test("a script in the service-worker syntax has the files of its site and their manifest as globals", async (t) => {
  const scene = await openSite(
    t,
    `${lookUp}
addEventListener("fetch", (event) => {
  event.respondWith(serve(event.request, __STATIC_CONTENT, __STATIC_CONTENT_MANIFEST));
});
`,
  );
  const { ask } = await scene.start("dev");
  assert.equal((await ask("/style.css")).text, "body {}");
  assert.equal((await ask("/none.css")).status, 404);
});

const script = "export default { fetch: () => new Response() };\n";

test("include and exclude patterns of a site have no effect, and a note names them", async (t) => {
  const scene = await openSite(t, script, `${head}${site}include = ["*.css"]\n`);
  const { log } = await scene.start("dev");
  assert.match(log(), /^wrangler\.toml: the script can read every file of its site: site\.include/m);
});

test("a site is ignored if assets are configured, and a site with a missing folder is refused", async (t) => {
  const beside = await openSite(t, script, `${head}assets = { directory = "public" }\n${site}`);
  const { log } = await beside.start("dev");
  assert.match(log(), /its site is not served beside its assets/);
  assert.match(log(), /Store does not have __STATIC_CONTENT/);
  const missing = await openSite(t, script, `${head}[site]\nbucket = "./build"\n`);
  const ports = ["--port", "0", "--s3-port", "0", "--console-port", "0"];
  assert.match(
    await missing.shell.fails(1, ["dev", ...ports]),
    /wrangler\.toml:5:10: There is no folder "\.\/build"/,
  );
});
