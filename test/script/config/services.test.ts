// Service bindings in store and wrangler files, and which scripts they reach.
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { readConfig, type ScriptConfig } from "../../../src/script/config/config.ts";
import {
  boundEntryPoints,
  reachableScripts,
  resolveServices,
} from "../../../src/script/supervisor/services/resolve-services.ts";
import { temporaryDirectory } from "../../support/stores.ts";

const head = 'name = "app"\nmain = "index.js"\ncompatibility_date = "2026-11-01"\n';

async function read(
  t: TestContext,
  name: "store.toml" | "wrangler.toml",
  text: string,
  options = {},
): Promise<ScriptConfig> {
  const folder = await temporaryDirectory(t);
  await writeFile(join(folder, "index.js"), "export default {};");
  await writeFile(join(folder, name), head + text);
  return readConfig(join(folder, name), options);
}

const services =
  '[[services]]\nbinding = "AUTH"\nservice = "auth"\nentrypoint = "Admin"\nprops = { plan = 1 }\n';
const expected = { binding: "AUTH", service: "auth", entrypoint: "Admin", props: { plan: 1 } };

test("service bindings of a store file and of a wrangler file are the same", async (t) => {
  const own = await read(t, "store.toml", `isolation = "sandbox"\n${services}`);
  assert.deepEqual(own.services, [expected]);
  const text = services.replace('"auth"', '"auth"\nremote = true\nenvironment = "beta"');
  const foreign = await read(t, "wrangler.toml", text, { isolation: "sandbox" });
  assert.deepEqual(foreign.services, [{ ...expected, service: "auth-beta" }]);
  assert.deepEqual(foreign.unsupported, []);
});

test("in a process, service bindings of a wrangler file throw, and those of a store file are refused", async (t) => {
  const foreign = await read(t, "wrangler.toml", services);
  assert.deepEqual(foreign.services, []);
  assert.deepEqual(foreign.unsupported, [{ binding: "AUTH", kind: "a service binding" }]);
  await assert.rejects(read(t, "store.toml", services), /Service bindings exist only in a sandbox/);
});

test("invalid service bindings are reported", async (t) => {
  const rows: readonly (readonly [string, RegExp])[] = [
    ['binding = "A"', /"service" is missing/],
    ['binding = "A"\nservice = ""', /"service" is a name of 1 to 255 characters/],
    ['binding = "A-B"\nservice = "b"', /is not a JavaScript identifier/],
    ['binding = "A"\nservice = "b"\nprops = 1', /"props" must be a table/],
    ['binding = "A"\nservice = "b"\nentry = "C"', /did you mean entrypoint\?|is not a key/],
  ];
  for (const [text, message] of rows) {
    await assert.rejects(read(t, "store.toml", `isolation = "sandbox"\n[[services]]\n${text}\n`), message);
  }
});

const script = (name: string, further: object = {}) =>
  ({ name, isolation: "sandbox", services: [], routes: [], ...further }) as const;
const binding = (service: string, further: object = {}) => ({
  ...{ binding: "B", service, entrypoint: undefined, props: undefined, ...further },
});

test("a service binding reaches scripts of the server, and the others name what is missing", () => {
  const own = [
    binding("a"),
    binding("b"),
    binding("gone"),
    binding("plain"),
    binding("plain", { entrypoint: "X" }),
  ];
  const scripts = [script("a", { services: own }), script("b"), script("plain", { isolation: "process" })];
  const resolved = resolveServices({ services: own }, scripts);
  assert.deepEqual(resolved.services, [own[0], own[1], own[3]]);
  assert.deepEqual(
    resolved.missing.map(({ kind }) => kind),
    ['a service binding to "gone"', 'a service binding to "plain"'],
  );
});

test("equal entry points are served once, and entry points of the script itself are not", () => {
  const props = { plan: "free" };
  const scripts = [
    script("a", { services: [binding("b"), binding("b", { entrypoint: "X", props })] }),
    script("b", { services: [binding("b", { entrypoint: "Own" })] }),
    script("c", { services: [binding("b"), binding("b", { entrypoint: "X", props })] }),
  ];
  assert.deepEqual(boundEntryPoints("b", scripts), [
    { entrypoint: undefined, props: undefined },
    { entrypoint: "X", props },
  ]);
});

test("a script that another binds is reached by clients only if it has routes or is the first", () => {
  const both = [script("a", { services: [binding("b")] }), script("b", { services: [binding("a")] })];
  assert.deepEqual(reachableScripts(both), [both[0]]);
  const routed = [script("a", { services: [binding("b")] }), script("b", { routes: ["b.example/*"] })];
  assert.deepEqual(reachableScripts(routed), routed);
  const unrelated = [script("a"), script("b")];
  assert.deepEqual(reachableScripts(unrelated), unrelated);
});
