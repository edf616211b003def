// KV namespaces, assets and bundling in store files: accepted forms and reports of mistakes.
import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { project, type Row, refusals } from "../../support/projects.ts";

const least = 'name = "a"\nmain = "src/index.ts"\ncompatibility_date = "2026-01-01"\n';

test("a KV namespace in a store file is named by its id, or by its binding if it has no id", async (t) => {
  const { read } = await project(t);
  const text = `${least}[[kv_namespaces]]\nbinding = "SETTINGS"\n[[kv_namespaces]]\nbinding = "B"\nid = "shared"\n`;
  assert.deepEqual((await read("store.toml", text)).kvNamespaces, [
    { binding: "SETTINGS", namespace: "SETTINGS" },
    { binding: "B", namespace: "shared" },
  ]);
});

test("a store file accepts assets with all their settings", async (t) => {
  const { read, directory } = await project(t);
  await mkdir(join(directory, "public"));
  const text = `${least}[assets]
directory = "public"
binding = "ASSETS"
not_found_handling = "single-page-application"
html_handling = "none"
run_worker_first = ["/api/*", "!/api/docs/*"]
`;
  assert.deepEqual((await read("store.toml", text)).assets, {
    directory: join(directory, "public"),
    binding: "ASSETS",
    notFoundHandling: "single-page-application",
    htmlHandling: "none",
    runWorkerFirst: ["/api/*", "!/api/docs/*"],
  });
});

test("a store file accepts settings for bundling the script", async (t) => {
  const { read, directory, write } = await project(t);
  await write("tsconfig.json", "{}");
  const text = `${least}tsconfig = "tsconfig.json"
jsx_factory = "h"
jsx_fragment = "Fragment"
define = { VERSION = '"1"' }
alias = { fs = "./src/fs.ts", old = "new" }
rules = [{ type = "Text", globs = ["**/*.md"], fallthrough = true }]
`;
  assert.deepEqual((await read("store.toml", text)).bundling, {
    define: { VERSION: '"1"' },
    alias: { fs: join(directory, "src/fs.ts"), old: "new" },
    jsxFactory: "h",
    jsxFragment: "Fragment",
    tsconfig: join(directory, "tsconfig.json"),
    rules: [{ type: "Text", globs: ["**/*.md"] }],
  });
});

const rows: readonly Row[] = [
  {
    what: "the wrangler key r2_buckets",
    text: `${least}[[r2_buckets]]\nbinding = "A"\n`,
    at: "4:3",
    says: ['"r2_buckets" is not a key of the configuration: did you mean store_buckets?'],
  },
  {
    what: "the wrangler key route",
    text: `${least}route = "a.example.com/*"\n`,
    at: "4:1",
    says: ["did you mean routes?"],
  },
  {
    what: "a compatibility flag that only wrangler files accept",
    text: `${least}compatibility_flags = ["streams_enable_constructors"]\n`,
    at: "4:24",
    says: ['There is no compatibility flag "streams_enable_constructors".', "store_list_honor_include"],
  },
  {
    what: "a KV namespace without a binding",
    text: `${least}[[kv_namespaces]]\nid = "x"\n`,
    at: "4:1",
    says: ['"binding" is missing in kv_namespaces.', 'binding = "SETTINGS"'],
  },
  {
    what: "a KV namespace id with a space",
    text: `${least}[[kv_namespaces]]\nbinding = "A"\nid = "my settings"\n`,
    at: "6:6",
    says: ['"my settings" cannot be a namespace\'s name', "1 to 128 letters"],
  },
  {
    what: "a variable with the name of a KV binding",
    text: `${least}kv_namespaces = [{ binding = "A" }]\nvars = { A = 1 }\n`,
    at: "5:10",
    says: ['"A" is already the name of a KV binding, on line 4.'],
  },
  {
    what: "an assets table without its directory",
    text: `${least}[assets]\nbinding = "A"\n`,
    at: "4:1",
    says: ['"directory" is missing in assets.', 'directory = "./public"'],
  },
  {
    what: "an assets directory that is a regular file",
    text: `${least}[assets]\ndirectory = "src/index.ts"\n`,
    at: "5:13",
    says: ['"src/index.ts" is not a folder.'],
  },
  {
    what: "an unknown value of not_found_handling",
    text: `${least}[assets]\ndirectory = "src"\nnot_found_handling = "404"\n`,
    at: "6:22",
    says: ['"not_found_handling" cannot be "404"', "none, 404-page, single-page-application"],
  },
  {
    what: "a run_worker_first path without a leading slash",
    text: `${least}[assets]\ndirectory = "src"\nrun_worker_first = ["api/*"]\n`,
    at: "6:21",
    says: ['The path "api/*" does not begin with a slash.', '"/api/*"'],
  },
  {
    what: "a run_worker_first path that is not in a list",
    text: `${least}[assets]\ndirectory = "src"\nrun_worker_first = "/api/*"\n`,
    at: "6:20",
    says: ["must be true, false or a list of paths", 'run_worker_first = ["/api/*"]'],
  },
  {
    what: "an assets binding without main",
    text: 'name = "a"\ncompatibility_date = "2026-01-01"\n[assets]\ndirectory = "src"\nbinding = "A"\n',
    at: "5:11",
    says: ["Assets that are served without a script have no binding.", "name the script with main"],
  },
  {
    what: "a rule with an unknown type",
    text: `${least}[[rules]]\ntype = "Txt"\nglobs = ["*.md"]\n`,
    at: "5:8",
    says: ['Files cannot be imported as "Txt".', "Text, Data, CompiledWasm"],
  },
  {
    what: "a define value that is not a string",
    text: `${least}define = { DEBUG = true }\n`,
    at: "4:20",
    says: ['"define.DEBUG" must be a string, not a boolean.', 'DEBUG = "true"'],
  },
  {
    what: "a jsx_factory that is not a function name",
    text: `${least}jsx_factory = "h()"\n`,
    at: "4:15",
    says: ['"h()" is not the name of a function', 'jsx_factory = "h"'],
  },
  {
    what: "a tsconfig file that does not exist",
    text: `${least}tsconfig = "other.json"\n`,
    at: "4:12",
    says: ['There is no file "other.json".', "Looked for"],
  },
];

test("each mistake in KV namespaces, assets and bundling settings is reported with position and correction", async (t) => {
  await refusals(t, await project(t), "store.toml", rows);
});
