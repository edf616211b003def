// Imports of scripts, tested by running the bundles in this process.
import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { pathToFileURL } from "node:url";
import { installNumberTimers } from "../../../src/script/globals/timers.ts";
import { installPlatformValues } from "../../../src/script/host/platform/values.ts";
import {
  type Bundle,
  BundleError,
  type BundlerOptions,
  createBundler,
} from "../../../src/script/supervisor/bundle.ts";

type Files = Readonly<Record<string, string | Uint8Array>>;

async function bundle(t: TestContext, files: Files, options: Partial<BundlerOptions> = {}): Promise<Bundle> {
  const directory = await mkdtemp(join(tmpdir(), "store-imports-"));
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(directory, name)), { recursive: true });
    await writeFile(join(directory, name), content);
  }
  const bundler = createBundler({ main: join(directory, "index.ts"), directory, ...options });
  t.after(async () => {
    await bundler.close();
    await rm(directory, { recursive: true });
  });
  return bundler.build();
}

/** Runs the bundle and returns its default export. */
async function run(built: Bundle): Promise<unknown> {
  const { file, remove } = await built.writeToFile();
  try {
    return ((await import(pathToFileURL(file).href)) as { default: unknown }).default;
  } finally {
    await remove();
  }
}

const emptyModule = Buffer.from("0061736d01000000", "hex");

test("a script can import text files, binary files and WebAssembly", async (t) => {
  const texts = ["txt", "html", "md", "sql", "svg", "css"];
  const built = await bundle(t, {
    ...Object.fromEntries(texts.map((type) => [`a.${type}`, `text of ${type}`])),
    "a.bin": new Uint8Array([0, 1, 255]),
    "a.wasm": emptyModule,
    "a.json": '{"a": 1}',
    "index.ts": `
      ${texts.map((type) => `import ${type} from "./a.${type}";`).join("\n")}
      import bin from "./a.bin";
      import wasm from "./a.wasm";
      import same from "./a.wasm?module";
      import json from "./a.json";
      const Buffer = "a name of the script's own";
      export default { texts: [${texts.join(", ")}], bin, wasm, same, json, Buffer };`,
  });
  const found = (await run(built)) as Record<string, unknown>;
  assert.deepEqual(found.texts, texts.map((type) => `text of ${type}`)); // biome-ignore format: one line
  assert.ok(found.bin instanceof ArrayBuffer);
  assert.deepEqual([...new Uint8Array(found.bin)], [0, 1, 255]);
  const { Module } = Reflect.get(globalThis, "WebAssembly") as { Module: new () => object };
  assert.ok(found.wasm instanceof Module);
  assert.equal(found.same, found.wasm);
  assert.deepEqual(found.json, { a: 1 });
});

test("a script can import Node modules with and without the node: prefix", async (t) => {
  const files = {
    "node_modules/old/package.json": '{"name":"old","main":"main.js","browser":{"fs":false}}',
    "node_modules/old/main.js":
      'exports.exists = require("fs").existsSync; exports.sep = require("path").sep;',
    "index.ts": `
      import fs from "fs";
      import { readFile } from "fs/promises";
      import { Buffer } from "buffer";
      import { Buffer as prefixed } from "node:buffer";
      import { AsyncLocalStorage } from "node:async_hooks";
      import old from "old";
      export default [fs.existsSync, readFile, AsyncLocalStorage, old.exists].map((value) => typeof value)
        .concat(Buffer === prefixed, old.sep);`,
  };
  for (const packages of ["node", "workers"] as const) {
    const found = await run(await bundle(t, files, { packages }));
    assert.deepEqual(found, ["function", "function", "function", "function", true, "/"], packages);
  }
});

test("packages are resolved with Node's export conditions, or with wrangler's for the workers platform", async (t) => {
  const builds = ["workerd", "browser", "node", "default"];
  const files = {
    "node_modules/many/package.json": JSON.stringify({
      name: "many",
      exports: Object.fromEntries(builds.map((name) => [name, `./${name}.mjs`])),
    }),
    ...Object.fromEntries(
      builds.map((name) => [`node_modules/many/${name}.mjs`, `export default "${name}"`]),
    ),
    "node_modules/fields/package.json": '{"name":"fields","main":"main.js","browser":"browser.js"}',
    "node_modules/fields/main.js": 'module.exports = "main"',
    "node_modules/fields/browser.js": 'module.exports = "browser"',
    "index.ts": 'import many from "many"; import fields from "fields"; export default [many, fields];',
  };
  assert.deepEqual(await run(await bundle(t, files)), ["node", "main"]);
  assert.deepEqual(await run(await bundle(t, files, { packages: "workers" })), ["workerd", "browser"]);
});

test("bundling replaces process.env.NODE_ENV by the configured value, default: production", async (t) => {
  const files = { "index.ts": "export default process.env.NODE_ENV;" };
  assert.equal(await run(await bundle(t, files)), "production");
  assert.equal(await run(await bundle(t, files, { nodeEnv: "development" })), "development");
});

test("setTimeout returns a number or an object as configured, and clearTimeout accepts both", async (t) => {
  installNumberTimers();
  const files = {
    "index.ts": `
      import { setTimeout as ofNode } from "node:timers";
      const ids = [setTimeout(() => { throw new Error("not cleared"); }, 5), globalThis.setInterval(() => {}, 5)];
      for (const id of [...ids, ofNode(() => {}, 5)]) clearTimeout(id);
      export default await new Promise((resolve) => setTimeout(resolve, 20, ids.map((id) => typeof id)));`,
  };
  assert.deepEqual(await run(await bundle(t, files, { timers: "numbers" })), ["number", "number"]);
  assert.deepEqual(await run(await bundle(t, files, { timers: "objects" })), ["object", "object"]);
});

test("a script without a default export is loaded as a service worker, in sloppy mode if it has no imports", async (t) => {
  const listening = "counter = 1; globalThis.seen = [typeof require, counter];";
  const script = await bundle(t, { "index.ts": listening });
  assert.equal(script.format, "service-worker");
  await run(script);
  assert.deepEqual(Reflect.get(globalThis, "seen"), ["function", 1]);
  const importing = await bundle(t, {
    "index.ts": `import { sep } from "node:path"; globalThis.seen = sep;`,
  });
  assert.equal(importing.format, "service-worker");
  await run(importing);
  assert.equal(Reflect.get(globalThis, "seen"), "/");
  const module = await bundle(t, { "index.ts": "export const named = 1; export default {};" });
  assert.equal(module.format, "module");
  const wrapped = await bundle(t, {
    "index.ts": "(function (root) { root.seen = typeof module; })(this || globalThis); addEventListener(1);",
  });
  assert.equal(wrapped.format, "service-worker");
  const common = await bundle(t, { "index.ts": "module.exports = { fetch() {} };" });
  assert.equal(common.format, "module");
});

test("cloudflare:workers exports env, waitUntil and base classes", async (t) => {
  const env = { NAME: "value" };
  const waiting: Promise<unknown>[] = [];
  installPlatformValues({ env, waitUntil: (promise) => waiting.push(promise) });
  const built = await bundle(t, {
    "index.ts": `
      import {
        env, waitUntil, withEnv, exports, WorkerEntrypoint, DurableObject, RpcTarget, WorkflowEntrypoint,
      } from "cloudflare:workers";
      export class Counter extends DurableObject {}
      export class Flow extends WorkflowEntrypoint {}
      const before = env;
      const nameAtTop = env.NAME;
      const read = async () => { await null; return { ...env, has: "NAME" in env }; };
      waitUntil(Promise.resolve(1));
      export default {
        before, nameAtTop, exports, Counter, Flow, Target: RpcTarget,
        entry: new (class extends WorkerEntrypoint {})("ctx", "env"),
        replaced: await withEnv({ NAME: "other" }, read),
        after: await read(),
      };`,
  });
  assert.ok(
    built.inputs.every((input) => input.endsWith("index.ts")),
    "virtual modules are not watched",
  );
  const found = (await run(built)) as Record<string, never>;
  assert.equal(found.before, env);
  assert.equal(found.nameAtTop, "value");
  assert.deepEqual({ ...(found.entry as unknown as object) }, { ctx: "ctx", env: "env" });
  assert.deepEqual(found.replaced, { NAME: "other", has: true });
  assert.deepEqual(found.after, { NAME: "value", has: true });
  assert.equal(waiting.length, 1);
  const construct = (name: string) => () => new (found[name] as unknown as new () => object)();
  assert.throws(construct("Counter"), /Store does not have Durable Objects/);
  assert.throws(construct("Flow"), /Store does not have Workflows/);
  assert.doesNotThrow(construct("Target"));
});

test("unsupported cloudflare: modules can be imported, and throw a clear error when used", async (t) => {
  installPlatformValues({ env: {}, waitUntil() {} });
  const built = await bundle(t, {
    "index.ts": `
      import { connect } from "cloudflare:sockets";
      import { EmailMessage } from "cloudflare:email";
      import { httpServerHandler } from "cloudflare:node";
      import { NonRetryableError } from "cloudflare:workflows";
      import { SELF, createExecutionContext } from "cloudflare:test";
      export default {
        connect, email: () => new EmailMessage("a", "b", "c"),
        http: () => httpServerHandler({ port: 1 }), self: () => SELF.fetch("/"),
        context: () => createExecutionContext(), error: new NonRetryableError("final"),
      };`,
  });
  const found = (await run(built)) as Record<string, () => unknown> & { error: Error };
  assert.throws(found.connect!, /connect takes an address like "db\.example\.com:5432"/);
  assert.throws(found.email!, /Store does not have email/);
  assert.throws(found.http!, /Store does not have httpServerHandler/);
  assert.throws(found.self!, /cloudflare:test \(SELF\)/);
  assert.throws(found.context!, /cloudflare:test \(createExecutionContext\)/);
  assert.deepEqual([found.error.name, found.error.message], ["NonRetryableError", "final"]);
});

test("an unknown cloudflare: module is refused without advice to install it", async (t) => {
  const failed = bundle(t, { "index.ts": 'import { x } from "cloudflare:nothing"; export default x;' });
  await assert.rejects(failed, (error: Error) => {
    assert.ok(error instanceof BundleError);
    assert.match(error.message, /index\.ts:1:19/);
    assert.match(error.message, /There is no module "cloudflare:nothing"\. Store has: cloudflare:workers/);
    assert.doesNotMatch(error.message, /npm install/);
    return true;
  });
});
