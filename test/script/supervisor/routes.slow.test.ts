// Several scripts on one server: routing of requests by host and path.
import assert from "node:assert/strict";
import { test } from "node:test";
import { openScene, writeScript } from "../scene.ts";

const source = `
export default {
  async fetch(request, env) {
    console.log("asked " + new URL(request.url).pathname);
    await env.BUCKET.put("visited", env.NAME);
    return new Response(env.NAME + " " + new URL(request.url).host);
  },
};`;

function script(name: string, routes: readonly string[]) {
  const lines = routes.length === 0 ? "" : `routes = ${JSON.stringify(routes)}`;
  return { name, source, config: `${lines}\n[vars]\nNAME = "${name}"` };
}

for (const mode of ["dev", "serve"] as const) {
  test(`store ${mode}: the script with the most specific route gets the request, or otherwise the script without routes`, async (t) => {
    const scene = await openScene(t);
    const configs = [
      await writeScript(scene, script("below", ["*.example.com/*"])),
      await writeScript(scene, script("photos", ["photos.example.com/*"])),
      await writeScript(scene, script("api", ["photos.example.com/api/*", "*/status"])),
      await writeScript(scene, script("other", [])),
    ];
    const { ask, announced, told } = await scene.start(mode, { configs });
    assert.deepEqual(
      announced.scripts.map(({ name }) => name),
      ["below", "photos", "api", "other"],
    );
    for (const [host, path, name] of [
      ["photos.example.com", "/", "photos"],
      ["PHOTOS.example.com:8787", "/a/b?x=/api/", "photos"],
      ["photos.example.com", "/api", "photos"],
      ["photos.example.com", "/api/list?x", "api"],
      ["photos.example.com", "/api/", "api"],
      ["music.example.com", "/api/list", "below"],
      ["a.b.example.com", "/", "below"],
      ["example.com", "/", "other"],
      ["badexample.com", "/", "other"],
      ["anything", "/status", "api"],
      ["anything", "/status/", "other"],
      ["127.0.0.1", "/", "other"],
      ["[::1]:80", "/", "other"],
    ] as const) {
      const { status, text } = await ask({ path, headers: { host } });
      assert.deepEqual(
        [status, text],
        [200, `${name} ${host.toLowerCase().replace(/:80$/, "")}`],
        `${host}${path}`,
      );
    }
    const { text } = await ask({
      path: "http://photos.example.com/api/x",
      headers: { host: "other.example" },
    });
    assert.equal(text, "api photos.example.com", "the host of an absolute URL decides the route");
    await told(/^\[api\] asked \/api\/list$/m);
  });
}

test("a request to a host without a route gets 404 if every script has routes", async (t) => {
  const scene = await openScene(t);
  const configs = [
    await writeScript(scene, script("one", ["one.example/*"])),
    await writeScript(scene, script("two", ["two.example/sub/*"])),
  ];
  const { ask } = await scene.start("dev", { configs });
  assert.equal((await ask({ headers: { host: "one.example" } })).text, "one one.example");
  for (const [host, path] of [
    ["other.example", "/"],
    ["two.example", "/"],
    ["other.example", "/__scheduled"],
  ] as const) {
    const { status, text } = await ask({ path, headers: { host } });
    assert.deepEqual([status, text], [404, "No script is configured for this address.\n"]);
  }
});

test("scripts with the same name, or several scripts without routes, are refused", async (t) => {
  const scene = await openScene(t);
  const named = await writeScript(scene, script("one", []));
  await scene.write("two/src/index.ts", source);
  const start = (...files: string[]) =>
    scene.shell.fails(1, [
      "serve",
      "--port",
      "0",
      "--s3-port",
      "0",
      "--console-port",
      "0",
      "--create-buckets",
      ...files.flatMap((file) => ["--config", file]),
    ]);
  const twin = await scene.write(
    "two/store.toml",
    'name = "one"\nmain = "src/index.ts"\ncompatibility_date = "2026-11-01"\n',
  );
  assert.match(
    await start(named, twin),
    /two\/store\.toml:1:8: The name "one" is already used by the script of .*one\/store\.toml"/,
  );
  const open = await scene.write(
    "two/store.toml",
    'name = "two"\nmain = "src/index.ts"\ncompatibility_date = "2026-11-01"\n',
  );
  assert.match(
    await start(named, open),
    /Several scripts share this server, so this script needs routes.*routes = \[/s,
  );
});
