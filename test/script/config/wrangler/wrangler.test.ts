// Parsing of wrangler files: the meaning of each key, replaced values, and notes about them.
import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { type ReadOptions, readConfig } from "../../../../src/script/config/config.ts";
import { nextRun, parseCron } from "../../../../src/script/config/cron.ts";
import { describeIgnored, findConfig } from "../../../../src/script/config/find-config.ts";
import { now, type Project, project } from "../../../support/projects.ts";

const least = 'name = "gallery"\nmain = "src/index.ts"\ncompatibility_date = "2026-01-01"\n';

async function readToml({ write }: Project, text: string, options: ReadOptions = {}) {
  return readConfig(await write("wrangler.toml", text), { now, ...options });
}

const whole = {
  $schema: "node_modules/wrangler/config-schema.json",
  name: "gallery",
  main: "./src/index.ts",
  compatibility_date: "2024-05-01",
  compatibility_flags: ["nodejs_compat"],
  r2_buckets: [
    { binding: "IMAGES", bucket_name: "images", preview_bucket_name: "images-dev", jurisdiction: "eu" },
  ],
  kv_namespaces: [{ binding: "SESSIONS", id: "0f2ac74b498b48028cb68387c421e279", preview_id: "x" }],
  vars: { TITLE: "Gallery", MAX: 5, DEBUG: true, NESTED: { a: [1, null] } },
  triggers: { crons: ["0 4 * * 2"] },
  routes: [{ pattern: "gallery.example.com", custom_domain: true }],
};

test("a wrangler file in JSON, JSONC or TOML defines buckets, namespaces, variables, routes and schedules", async (t) => {
  const files = await project(t);
  for (const name of ["wrangler.json", "wrangler.jsonc"]) {
    const config = readConfig(await files.write(name, JSON.stringify(whole)), { now });
    assert.deepEqual(config.buckets, [{ binding: "IMAGES", bucketName: "images" }]);
    assert.deepEqual(config.kvNamespaces, [
      { binding: "SESSIONS", namespace: "0f2ac74b498b48028cb68387c421e279" },
    ]);
    assert.deepEqual(config.vars, whole.vars);
    assert.deepEqual(config.routes, ["gallery.example.com/*"]);
    assert.deepEqual(config.crons, ["0 4 * * 2"]);
    assert.equal(config.main, join(files.directory, "src/index.ts"));
    assert.deepEqual([config.kind, config.name, config.notes], ["wrangler", "gallery", []]);
  }
  const toml = await readToml(
    files,
    `${least}[[r2_buckets]]\nbinding = "IMAGES"\nbucket_name = "images"\n[vars]\nMAX = 5\n`,
  );
  assert.deepEqual([toml.buckets, toml.vars], [[{ binding: "IMAGES", bucketName: "images" }], { MAX: 5 }]);
});

test("R2 flags of a wrangler file are renamed to Store's flags, and the flag for delimited prefixes is added", async (t) => {
  const files = await project(t);
  const text = `${least}compatibility_flags = ["r2_list_honor_include", "nodejs_compat"]\n`;
  assert.deepEqual((await readToml(files, text)).compatibilityFlags, [
    "store_list_honor_include",
    "nodejs_compat",
    "store_delimited_prefixes_keep_delimiter",
  ]);
});

test("an unknown compatibility flag is accepted with a note", async (t) => {
  const { notes } = await readToml(await project(t), `${least}compatibility_flags = ["nodejs_compta"]\n`);
  assert.deepEqual(notes, ["wrangler.toml: these compatibility flags are not known: nodejs_compta."]);
});

test("a flag that blocks fetch to private addresses gets a note that it is not enforced", async (t) => {
  const text = `${least}compatibility_flags = ["global_fetch_strictly_public"]\n`;
  assert.deepEqual((await readToml(await project(t), text)).notes, [
    "wrangler.toml: global_fetch_strictly_public is not enforced: fetch reaches private addresses too.",
  ]);
});

test("a missing name and compatibility date of a wrangler file get defaults, with a note for each", async (t) => {
  const files = await project(t);
  const file = await files.write("my_site/wrangler.toml", 'main = "index.ts"\n');
  await files.write("my_site/index.ts", "");
  const config = readConfig(file, { now });
  assert.deepEqual([config.name, config.compatibilityDate], ["my-site", "2026-11-15"]);
  assert.deepEqual(config.notes, [
    'wrangler.toml: it has no name, so the script is called "my-site".',
    "wrangler.toml: it has no compatibility_date, so today's is used: 2026-11-15.",
  ]);
});

test("bucket and namespace names that are placeholders are replaced by names derived from the bindings", async (t) => {
  const text = `name = "<YOUR_NAME>"
main = "src/index.ts"
compatibility_date = "YYYY-MM-DD"
r2_buckets = [
  { binding = "MY_FILES", bucket_name = "<your-bucket>" },
  { binding = "DB", preview_bucket_name = "db-preview" },
  { binding = "R2" },
]
kv_namespaces = [{ binding = "CACHE", id = "<YOUR_ID>" }, { binding = "OTHER" }]
`;
  const config = await readToml(await project(t), text);
  assert.equal(config.name, "your-name");
  assert.deepEqual(
    config.buckets.map(({ bucketName }) => bucketName),
    ["my-files", "db-preview", "r2-bucket"],
  );
  assert.deepEqual(
    config.kvNamespaces.map(({ namespace }) => namespace),
    ["CACHE", "OTHER"],
  );
  assert.deepEqual(config.notes, [
    'wrangler.toml: the name "<YOUR_NAME>" cannot be used here, so the script is called "your-name".',
    'wrangler.toml: the compatibility_date "YYYY-MM-DD" is not a date, so today\'s is used: 2026-11-15.',
    'wrangler.toml: bucket_name is missing or cannot be used, so MY_FILES uses the bucket "my-files", R2 uses the bucket "r2-bucket".',
    'wrangler.toml: id of a KV namespace is missing or cannot be used, so CACHE uses the namespace "CACHE", OTHER uses the namespace "OTHER".',
  ]);
});

test("the name of a binding in a wrangler file need not be a JavaScript identifier", async (t) => {
  const text = `${least}r2_buckets = [{ binding = "my-files", bucket_name = "files" }]\n`;
  assert.equal((await readToml(await project(t), text)).buckets[0]!.binding, "my-files");
});

const routeRows: readonly (readonly [string, readonly string[]])[] = [
  ['route = "example.com/*"', ["example.com/*"]],
  ['route = { pattern = "example.com/api/*", zone_name = "example.com" }', ["example.com/api/*"]],
  ['routes = ["https://example.com/*", "http://a.example.com/x"]', ["example.com/*", "a.example.com/x"]],
  ['routes = ["example.com"]', ["example.com/"]],
  ['routes = ["*example.com/*"]', ["example.com/*", "*.example.com/*"]],
  ['routes = ["*.example.com/*"]', ["*.example.com/*"]],
  [
    'routes = ["a.example.com/*", { pattern = "b.example.com", custom_domain = true }]',
    ["a.example.com/*", "b.example.com/*"],
  ],
  ['routes = [{ pattern = "c.example.com/x/*", zone_id = "1" }]', ["c.example.com/x/*"]],
  ['route = ""', []],
];

test("routes of a wrangler file may be strings or tables, with a scheme, without a path or for custom domains", async (t) => {
  const files = await project(t);
  for (const [text, routes] of routeRows) {
    assert.deepEqual((await readToml(files, `${least}${text}\n`)).routes, routes, text);
  }
});

test("an unusable route is omitted with a note by store dev, and refused by store serve", async (t) => {
  const files = await project(t);
  const text = `${least}routes = ["example.com/*", "<your domain>/*"]\n`;
  const config = await readToml(files, text, { mode: "dev" });
  assert.deepEqual(config.routes, ["example.com/*"]);
  assert.match(config.notes[0]!, /these routes cannot be used and are left out: "<your domain>\/\*"/);
  await assert.rejects(
    readToml(files, text, { mode: "serve" }),
    /wrangler\.toml:4:28: "<your domain>" is not/,
  );
});

test("keys of a wrangler file that have no effect are named together in one note", async (t) => {
  const text = `${least}account_id = "1"
workers_dev = true
[observability]
enabled = true
[dev]
ip = "0.0.0.0"
port = 9999
[[queues.consumers]]
queue = "q"
`;
  const config = await readToml(await project(t), text);
  assert.equal(config.devPort, 9999);
  assert.deepEqual(config.notes, [
    "wrangler.toml: these keys have no effect in Store: account_id, workers_dev, observability, dev.ip, queues.consumers.",
    "wrangler.toml: to listen on another address than 127.0.0.1, use --host.",
  ]);
});

test("unknown keys inside the tables of a wrangler file are named together in one note", async (t) => {
  const text = `${least}routes = [{ pattern = "a.example.com/*", zonename = "x" }]
[[r2_buckets]]
binding = "FILES"
bucketname = "files"
[[d1_databases]]
binding = "DB"
replication = true
`;
  const config = await readToml(await project(t), text);
  assert.deepEqual(config.buckets, [{ binding: "FILES", bucketName: "files" }]);
  assert.ok(
    config.notes.includes(
      "wrangler.toml: these keys are not known and have no effect: routes.zonename (did you mean zone_name?), r2_buckets.bucketname (did you mean bucket_name?), d1_databases.replication.",
    ),
    config.notes.join("\n"),
  );
});

test("a note about unknown keys names ten of them", async (t) => {
  const keys = Array.from({ length: 25 }, (_, i) => `unknown_${i} = ${i}\n`).join("");
  const { notes } = await readToml(await project(t), `${least}[[r2_buckets]]\nbinding = "FILES"\n${keys}`);
  assert.match(notes.at(-1)!, /r2_buckets\.unknown_9 and 15 more\.$/);
});

test("an environment of a wrangler file may have the platform's cache settings", async (t) => {
  const text = `${least}[env.staging.cache]\nenabled = true\n`;
  const { notes } = await readToml(await project(t), text, { environment: "staging" });
  assert.deepEqual(notes, ["wrangler.toml: these keys have no effect in Store: cache."]);
});

test("a site runs the script of its folder, and without a script its files are served", async (t) => {
  const files = await project(t);
  await mkdir(join(files.directory, "public"));
  const text = 'name = "site"\ncompatibility_date = "2026-01-01"\n[site]\nbucket = "./public"\n';
  const alone = await readToml(files, text);
  assert.deepEqual([alone.main, alone.assets?.binding], [undefined, undefined]);
  assert.equal(alone.assets?.directory, join(files.directory, "public"));
  assert.match(alone.notes[0]!, /files of its site are served without a script/);
  await files.write("workers-site/index.js", "");
  const own = await readToml(files, text);
  assert.equal(own.main, join(files.directory, "workers-site/index.js"));
  assert.equal(own.assets?.binding, "__STATIC_CONTENT");
  await files.write("entry/package.json", '{ "main": "start.js" }');
  await files.write("entry/start.js", "");
  const named = await readToml(files, `${text}entry-point = "./entry"\n`);
  assert.equal(named.main, join(files.directory, "entry/start.js"));
});

test("bindings of a wrangler file that Store does not support are named together in one note", async (t) => {
  const text = `${least}
d1_databases = [{ binding = "DB", database_name = "x", database_id = "y" }]
services = [{ binding = "AUTH", service = "auth" }]
send_email = [{ name = "MAIL" }]
ai = { binding = "AI" }
[[queues.producers]]
binding = "JOBS"
queue = "jobs"
[[durable_objects.bindings]]
name = "ROOMS"
class_name = "Room"
[[unsafe.bindings]]
name = "OTHER"
type = "other"
[wasm_modules]
CODE = "a.wasm"
`;
  const config = await readToml(await project(t), text);
  const listed = Object.fromEntries(config.unsupported.map(({ binding, kind }) => [binding, kind]));
  assert.deepEqual(listed, {
    DB: "a D1 database",
    JOBS: "a queue",
    ROOMS: "a Durable Object",
    AUTH: "a service binding",
    MAIL: "an email sender",
    AI: "the AI binding",
    OTHER: "an unsafe binding (other)",
    CODE: "a WebAssembly module binding",
  });
  const said = config.notes.filter((note) => note.includes("docs/migrating.md"));
  assert.equal(said.length, 1);
  assert.match(said[0]!, /Store does not have DB \(a D1 database\), JOBS \(a queue\)/);
});

test("the version_metadata binding is a variable with id, tag and timestamp", async (t) => {
  const { vars } = await readToml(await project(t), `${least}version_metadata = { binding = "VERSION" }\n`);
  assert.deepEqual(Object.keys(vars.VERSION as object), ["id", "tag", "timestamp"]);
});

test("in a wrangler file Sunday is weekday 1, and store dev omits an unsupported cron expression", async (t) => {
  const files = await project(t);
  const text = `${least}[triggers]\ncrons = ["0 4 * * 1", "0 0 L * *"]\n`;
  const config = await readToml(files, text, { mode: "dev" });
  assert.deepEqual([config.crons, config.sunday], [["0 4 * * 1"], 1]);
  assert.match(config.notes[0]!, /not supported and are left out: "0 0 L \* \*"/);
  const run = nextRun(parseCron("0 4 * * 1", config.sunday), new Date("2026-11-16T00:00:00Z"));
  assert.equal(run.getUTCDay(), 0);
  await assert.rejects(readToml(files, text, { mode: "serve" }), /wrangler\.toml:5:23:/);
});

test("assets, also those of a Pages project, may be served without a script", async (t) => {
  const files = await project(t);
  await mkdir(join(files.directory, "dist"));
  const head = 'name = "site"\ncompatibility_date = "2026-01-01"\n';
  const alone = await readToml(
    files,
    `${head}[assets]\ndirectory = "./dist"\nnot_found_handling = "404-page"\n`,
  );
  assert.equal(alone.main, undefined);
  assert.deepEqual(alone.assets, {
    directory: join(files.directory, "dist"),
    binding: undefined,
    notFoundHandling: "404-page",
    htmlHandling: "auto-trailing-slash",
    runWorkerFirst: false,
  });
  const pages = `${head}pages_build_output_dir = "dist"\n`;
  assert.equal((await readToml(files, pages)).main, undefined);
  await files.write("dist/_worker.js", "");
  const advanced = await readToml(files, pages);
  assert.equal(advanced.main, join(files.directory, "dist/_worker.js"));
  assert.deepEqual([advanced.assets?.binding, advanced.assets?.runWorkerFirst], ["ASSETS", true]);
});

test("configuration files are preferred in the order store file, wrangler.json, wrangler.jsonc, wrangler.toml", async (t) => {
  const { write, directory } = await project(t);
  await write("wrangler.toml", "");
  assert.equal(findConfig(directory), join(directory, "wrangler.toml"));
  await write("wrangler.jsonc", "");
  assert.equal(findConfig(directory), join(directory, "wrangler.jsonc"));
  assert.equal(describeIgnored(directory), "Using wrangler.jsonc; wrangler.toml is ignored.");
  await write("store.json", "");
  assert.equal(findConfig(directory), join(directory, "store.json"));
  assert.equal(describeIgnored(directory), "Using store.json; wrangler.jsonc and wrangler.toml are ignored.");
});
