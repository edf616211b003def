// `store dev` and `store serve` in a project that a build tool has built.
import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { generatedConfig, writeBuild } from "../../script/built-project.ts";
import { openScene } from "../../script/scene.ts";

test("dev and serve run the output of a build, reload it, and keep their data out of its folder", async (t) => {
  const scene = await openScene(t);
  await writeBuild(scene);
  const server = await scene.start("dev");
  assert.match(
    server.log(),
    /^Using dist\/gallery\/wrangler\.json, which a build made from wrangler\.jsonc\./m,
  );
  assert.equal((await server.ask({ path: "/api/a.txt", method: "PUT", body: "one" })).text, "hello one");
  assert.equal((await server.ask("/")).text, "<h1>page</h1>");
  const from = server.log().length;
  const rebuilt = { ...generatedConfig(scene.directory), vars: { GREETING: "again" } };
  await scene.write("dist/gallery/wrangler.json", JSON.stringify(rebuilt));
  await server.told(/changed: reloaded/, from);
  assert.equal((await server.ask("/api/a.txt")).text, "again one");
  await server.stop();

  await rm(join(scene.directory, "dist"), { recursive: true });
  const ports = ["--port", "0", "--s3-port", "0", "--console-port", "0"];
  const refusal = await scene.shell.fails(1, ["serve", ...ports]);
  assert.match(refusal, /"dist\/gallery\/wrangler\.json" is missing\.[\s\S]*npm run build/);
  await writeBuild(scene);
  const serving = await scene.start("serve");
  assert.equal((await serving.ask("/api/a.txt")).text, "hello one");
});

test("types describes the author's wrangler file of a built project", async (t) => {
  const scene = await openScene(t);
  await writeBuild(scene);
  await scene.write("src/index.ts", "");
  assert.equal(await scene.shell.store("types"), "Wrote store-env.d.ts\n");
});
