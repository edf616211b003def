// Bundles for workerd: modules beside the script, modules of the runtime, and service workers.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import {
  type Bundle,
  BundleError,
  type Bundler,
  type BundlerOptions,
  createBundler,
} from "../../../src/script/supervisor/bundle.ts";
import { project } from "../../support/projects.ts";

type Files = Readonly<Record<string, string | Uint8Array>>;

async function openBundler(t: TestContext, files: Files, options: Partial<BundlerOptions> = {}) {
  const { directory, write } = await project(t);
  for (const [name, content] of Object.entries(files)) await write(name, content);
  const main = join(directory, "index.ts");
  const bundler: Bundler = createBundler({ main, directory, target: "workerd", ...options });
  t.after(() => bundler.close());
  return { bundler, directory };
}

async function bundle(t: TestContext, files: Files, options?: Partial<BundlerOptions>): Promise<Bundle> {
  return (await openBundler(t, files, options)).bundler.build();
}

function mainText({ modules }: Bundle): string {
  return Buffer.from(modules[0]!.contents).toString();
}

const emptyModule = Buffer.from("0061736d01000000", "hex");
const otherModule = Buffer.from("0061736d0100000000020161", "hex");

test("WebAssembly and binary files become modules beside the script, and texts stay in it", async (t) => {
  const built = await bundle(t, {
    "a.wasm": emptyModule,
    "deep/a.wasm": otherModule,
    "my file%.bin": Buffer.of(0, 255),
    "a.md": "# Text",
    "index.ts": `
      import a from "./a.wasm";
      import same from "./a.wasm?module";
      import other from "./deep/a.wasm";
      import bytes from "./my file%.bin";
      import text from "./a.md";
      export default { a, same, other, bytes, text };`,
  });
  const [main, ...rest] = built.modules;
  assert.deepEqual([main!.name, main!.kind, built.format], ["script.js", "esm", "module"]);
  const found = rest.map(({ kind, contents }) => `${kind} ${Buffer.from(contents).toString("hex")}`).sort();
  assert.deepEqual(found, [
    "data 00ff",
    `wasm ${emptyModule.toString("hex")}`,
    `wasm ${otherModule.toString("hex")}`,
  ].sort()); // biome-ignore format: one list
  const code = mainText(built);
  for (const { name } of rest) {
    assert.match(name, /^[\w.-]+$/);
    assert.ok(code.includes(`"./${name}"`), name);
  }
  assert.match(code, /# Text/);
  assert.doesNotMatch(code, /Buffer|createRequire|WebAssembly\.Module|sourceMappingURL/);
  assert.deepEqual(built.inputs.filter((input) => !existsSync(input)), []); // biome-ignore format: one line
});

test("rules of the configuration for WebAssembly and data make modules too", async (t) => {
  const built = await bundle(
    t,
    {
      "a.webassembly": emptyModule,
      "a.dat": Buffer.of(1),
      "a.note": "Note",
      "index.ts": `
        import a from "./a.webassembly"; import b from "./a.dat"; import c from "./a.note";
        export default [a, b, c];`,
    },
    {
      bundling: {
        rules: [
          { type: "CompiledWasm", globs: ["*.webassembly"] },
          { type: "Data", globs: ["*.dat"] },
          { type: "Text", globs: ["*.note"] },
        ],
      },
    },
  );
  assert.deepEqual(built.modules.map(({ kind }) => kind).sort(), ["data", "esm", "wasm"]);
  assert.match(mainText(built), /"Note"/);
});

test("imports of node: and cloudflare: modules are kept, and CommonJS packages can require Node's", async (t) => {
  const built = await bundle(
    t,
    {
      "node_modules/old/package.json": '{"name":"old","main":"main.js"}',
      "node_modules/old/main.js": 'exports.sep = require("path").sep; exports.same = require("node:path");',
      "node_modules/many/package.json":
        '{"name":"many","exports":{"node":"./node.mjs","workerd":"./workerd.mjs","default":"./node.mjs"}}',
      "node_modules/many/workerd.mjs": 'export default "for workerd";',
      "node_modules/many/node.mjs": 'export default "for node";',
      "index.ts": `
        import fs from "fs";
        import { connect } from "cloudflare:sockets";
        import { WorkerEntrypoint } from "cloudflare:workers";
        import old from "old";
        import many from "many";
        setTimeout(() => {}, 1);
        export class Entry extends WorkerEntrypoint {}
        export default { fs, connect, old, many, env: process.env.NODE_ENV };`,
    },
    { timers: "numbers", packages: "node" },
  );
  const code = mainText(built);
  const imported = [...code.matchAll(/from "([^"]+)"/g)].map(([, name]) => name!);
  assert.deepEqual([...new Set(imported)].sort(), ["cloudflare:sockets", "cloudflare:workers", "node:fs", "node:path"]); // biome-ignore format: one line
  assert.doesNotMatch(code, /Dynamic require|"for node"/);
  assert.match(code, /for workerd/);
  assert.match(code, /setTimeout\(\(\)/);
  assert.match(code, /env: "production"/);
  assert.equal(built.modules.length, 1);
  assert.ok(
    built.inputs.every((input) => existsSync(input)),
    "generated modules are not watched",
  );
});

test("a rebuild has the current modules only, and writes them to one folder", async (t) => {
  const { bundler, directory } = await openBundler(t, {
    "a.wasm": emptyModule,
    "index.ts": 'import a from "./a.wasm"; export default a;',
  });
  const names = async () => (await bundler.build()).modules.map(({ name }) => name);
  const first = await names();
  await writeFile(join(directory, "a.wasm"), otherModule);
  const second = await names();
  assert.deepEqual([first.length, second.length], [2, 2]);
  assert.notEqual(first[1], second[1]);
  assert.deepEqual(await names(), second, "a build without changes keeps its modules");
  const { file, remove } = await (await bundler.build()).writeToFile();
  assert.deepEqual((await readdir(dirname(file))).sort(), [...second].sort());
  assert.ok((await readFile(file, "utf8")).includes(second[1]!));
  await remove();
  await writeFile(join(directory, "index.ts"), "export default {};");
  assert.deepEqual(await names(), ["script.js"]);
  await writeFile(join(directory, "index.ts"), 'import a from "./a.wasm"; export default a;');
  assert.deepEqual(await names(), second);
});

test("a service worker is one script without imports, otherwise it is refused", async (t) => {
  const script = await bundle(t, {
    "part.ts": "export const part = 1;",
    "index.ts": 'import { part } from "./part.ts"; addEventListener("fetch", () => part);',
  });
  assert.equal(script.format, "service-worker");
  assert.doesNotMatch(mainText(script), /^(import|export) /m);
  for (const source of [
    'export const named = 1; addEventListener("fetch", () => named);',
    'module.exports = 1; addEventListener("fetch", () => {});',
  ]) {
    const converted = await bundle(t, { "index.ts": source });
    assert.equal(converted.format, "service-worker");
    assert.doesNotMatch(mainText(converted), /^\s*export /m);
    assert.match(mainText(converted), /addEventListener\("fetch"/);
  }
  for (const source of [
    'import a from "./a.wasm"; addEventListener("fetch", () => a);',
    'import { sep } from "node:path"; addEventListener("fetch", () => sep);',
  ]) {
    await assert.rejects(bundle(t, { "a.wasm": emptyModule, "index.ts": source }), (error) => {
      assert.ok(error instanceof BundleError);
      assert.match(error.message, /export a default object with a fetch method/);
      assert.equal(error.files.length, 1);
      return true;
    });
  }
});

test("a bundle for a process has no modules beside it", async (t) => {
  const files = { "a.wasm": emptyModule, "index.ts": 'import a from "./a.wasm"; export default a;' };
  assert.deepEqual((await bundle(t, files, { target: "process" })).modules, []);
});

test("a sandboxed script bundles only files of its folder, of its packages and of aliases", async (t) => {
  const { directory: outside, write } = await project(t);
  await write("secret.txt", "the operator's secret");
  const secret = join(outside, "secret.txt");
  const foreign = (error: unknown) =>
    error instanceof BundleError && /outside of its folder/.test(error.message);
  const direct = await openBundler(t, { "index.ts": `export { default } from ${JSON.stringify(secret)};` });
  await assert.rejects(direct.bundler.build(), foreign);
  const linked = await openBundler(t, { "index.ts": 'export { default } from "./link.txt";' });
  await symlink(secret, join(linked.directory, "link.txt"));
  await assert.rejects(linked.bundler.build(), foreign);
  const rules = { rules: [{ type: "Data" as const, globs: ["**/*.txt"], fallthrough: false }] };
  const ruled = await openBundler(
    t,
    { "index.ts": `import data from ${JSON.stringify(secret)}; export default { data };` },
    { bundling: rules as unknown as BundlerOptions["bundling"] },
  );
  await assert.rejects(ruled.bundler.build(), foreign);
  await write("shared.ts", 'import "./secret.txt"; export default 1;');
  await write("named.ts", "export default 1;");
  const source = 'import shared from "shared"; export default { shared };';
  for (const [target, isRefused] of [
    ["named.ts", false],
    ["named", false],
    ["shared.ts", true],
  ] as const) {
    const bundling = { alias: { shared: join(outside, target) } } as unknown as BundlerOptions["bundling"];
    const aliased = await openBundler(t, { "index.ts": source }, { bundling });
    if (isRefused) await assert.rejects(aliased.bundler.build(), foreign);
    else assert.equal((await aliased.bundler.build()).modules.length, 1);
  }
  const installed = await bundle(t, {
    "node_modules/shared/index.js": "export default 1;",
    "node_modules/shared/package.json": '{ "name": "shared", "main": "index.js" }',
    "index.ts": 'import one from "shared"; export default { one };',
  });
  assert.equal(installed.modules.length, 1);
});
