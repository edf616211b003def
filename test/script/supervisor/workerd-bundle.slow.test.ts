// Bundles for workerd, run in a real workerd.
import assert from "node:assert/strict";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { createBundler } from "../../../src/script/supervisor/bundle.ts";
import { project } from "../../support/projects.ts";
import { startModules } from "../../support/workerd/start-modules.ts";

async function run(t: TestContext, files: Readonly<Record<string, string | Uint8Array>>): Promise<unknown> {
  const { directory, write } = await project(t);
  for (const [name, content] of Object.entries(files)) await write(name, content);
  const bundler = createBundler({ main: join(directory, "index.ts"), directory, target: "workerd" });
  t.after(() => bundler.close());
  const { modules, format } = await bundler.build();
  const { port } = await startModules(t, { modules, format, flags: ["nodejs_compat"] });
  return (await fetch(`http://127.0.0.1:${port}/`)).json();
}

/** A module that exports the function `add` of two integers. */
const addModule = Buffer.from(
  "0061736d0100000001070160027f7f017f030201000707010361646400000a09010700200020016a0b",
  "hex",
);

test("a script in workerd can import WebAssembly, data, text, JSON and modules of the runtime", async (t) => {
  const found = await run(t, {
    "add.wasm": addModule,
    "a.bin": Buffer.of(1, 255),
    "a.txt": "text",
    "a.json": '{"a":1}',
    "node_modules/old/package.json": '{"name":"old","main":"main.js"}',
    "node_modules/old/main.js": 'exports.join = require("path").join;',
    "index.ts": `
      import add from "./add.wasm";
      import bytes from "./a.bin";
      import text from "./a.txt";
      import json from "./a.json";
      import old from "old";
      import { Buffer } from "buffer";
      import { WorkerEntrypoint } from "cloudflare:workers";
      export default class extends WorkerEntrypoint {
        async fetch() {
          using resource = { [Symbol.dispose]() {} };
          const { exports } = await WebAssembly.instantiate(add);
          return Response.json([
            exports.add(2, 3), bytes instanceof ArrayBuffer, [...new Uint8Array(bytes)], text, json,
            old.join("a", "b"), Buffer.from("b").toString("hex"),
          ]);
        }
      }`,
  });
  assert.deepEqual(found, [5, true, [1, 255], "text", { a: 1 }, "a/b", "62"]);
});

test("a service worker runs in workerd in sloppy mode", async (t) => {
  const found = await run(t, {
    "index.ts": `
      counter = 1;
      addEventListener("fetch", (event) => event.respondWith(Response.json([counter])));`,
  });
  assert.deepEqual(found, [1]);
  const common = await run(t, {
    "index.ts": `
      module.exports = 1;
      addEventListener("fetch", (event) => event.respondWith(Response.json([typeof module])));`,
  });
  assert.deepEqual(common, ["object"]);
});
