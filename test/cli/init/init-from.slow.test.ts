// `store init --from`: converts a wrangler file to store.toml, with notes on unsupported settings.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { readConfig } from "../../../src/script/config/config.ts";
import { weekFromZero } from "../../../src/script/config/store-toml.ts";
import { openScene } from "../../script/scene.ts";

const wrangler = {
  name: "Gallery",
  main: "src/index.ts",
  compatibility_date: "2026-01-01",
  compatibility_flags: ["nodejs_compat"],
  workers_dev: true,
  routes: [{ pattern: "gallery.example.com", custom_domain: true }],
  r2_buckets: [{ binding: "FILES", bucket_name: "files" }],
  kv_namespaces: [{ binding: "SETTINGS", id: "abc" }],
  d1_databases: [{ binding: "DB", database_name: "x" }],
  triggers: { crons: ["0 4 * * 2-6"] },
  vars: { TITLE: "x", LIMIT: { width: 1, nothing: null } },
  build: { command: "npm run build" },
  secrets: { required: ["API_KEY"] },
  env: {
    staging: { vars: { TITLE: "y" }, r2_buckets: [{ binding: "FILES", bucket_name: "files-staging" }] },
  },
};

test("init --from writes an equivalent store.toml for every environment and prints omitted settings", async (t) => {
  const scene = await openScene(t);
  await scene.write("src/index.ts", "");
  await scene.write("wrangler.jsonc", JSON.stringify(wrangler, null, 2));
  const printed = await scene.shell.store("init", "--from", ".");
  assert.match(printed, /^Wrote store\.toml from wrangler\.jsonc\.\nLeft out or replaced:\n/);
  for (const words of [
    'the name "Gallery" cannot be used here, so the script is called "gallery".',
    "these keys have no effect in Store: workers_dev.",
    "DB, a D1 database: Store has none, see docs/migrating.md",
    "compatibility flags that need nothing here: nodejs_compat",
    "build.command: run it before store dev: npm run build",
    "secrets.required: set it with store secret put API_KEY",
    "days of the week were renumbered from 0",
  ]) {
    assert.ok(printed.includes(`\n  ${words}`), words);
  }
  const file = join(scene.directory, "store.toml");
  const text = await readFile(file, "utf8");
  assert.match(text, /^# Made from wrangler\.jsonc\./);
  assert.match(text, /^# Note: DB, a D1 database/m);
  const top = readConfig(file);
  assert.deepEqual(
    [top.name, top.routes, top.crons, top.buckets, top.kvNamespaces, top.vars, top.compatibilityFlags],
    [
      "gallery",
      ["gallery.example.com/*"],
      ["0 4 * * 1-5"],
      [{ binding: "FILES", bucketName: "files" }],
      [{ binding: "SETTINGS", namespace: "abc" }],
      { TITLE: "x", LIMIT: { width: 1 } },
      ["store_delimited_prefixes_keep_delimiter"],
    ],
  );
  const staging = readConfig(file, { environment: "staging" });
  assert.deepEqual(staging.buckets, [{ binding: "FILES", bucketName: "files-staging" }]);
  assert.deepEqual(
    [staging.name, staging.vars, staging.crons],
    ["gallery-staging", { TITLE: "y" }, top.crons],
  );
});

test("init --from overwrites nothing and refuses a folder without a wrangler file", async (t) => {
  const scene = await openScene(t);
  assert.match(
    await scene.shell.fails(1, ["init", "--from", "."]),
    /There is no wrangler\.toml, \.json or \.jsonc/,
  );
  assert.match(await scene.shell.fails(1, ["init", "--from", "missing"]), /There is no "missing"/);
  await scene.write("wrangler.toml", 'name = "a"\nmian = "x"\n');
  assert.match(
    await scene.shell.fails(1, ["init", "--from", "."]),
    /wrangler\.toml:2:1: "mian" is not a key/,
  );
  await scene.write("store.jsonc", "{}");
  assert.match(
    await scene.shell.fails(1, ["init", "--from", "."]),
    /already contains store\.jsonc; nothing was written/,
  );
  assert.match(await scene.shell.fails(2, ["init", "x", "--from", "."]), /next to the wrangler file/);
});

test("init --from prints violations of the stricter rules of store.toml after it has written the file", async (t) => {
  const scene = await openScene(t);
  await scene.write("index.js", "");
  await scene.write(
    "site/wrangler.toml",
    'name = "a"\nmain = "../index.js"\ncompatibility_date = "2026-01-01"\nr2_buckets = [{ binding = "my-files", bucket_name = "files" }]\n',
  );
  const printed = await scene.shell.store("init", "--from", "site/wrangler.toml");
  assert.match(
    printed,
    /Fix this before you start the project:[\s\S]*The binding "my-files" is not a JavaScript identifier/,
  );
});

test("init --from renumbers the days of the week in cron expressions, and no other field", () => {
  assert.equal(weekFromZero("1 2 3 4 1"), "1 2 3 4 0");
  assert.equal(weekFromZero("*/5 * * * 2-6/2,7"), "*/5 * * * 1-5/2,6");
  assert.equal(weekFromZero("0 0 * * MON-FRI"), "0 0 * * MON-FRI");
  assert.equal(weekFromZero("0 0 * * *"), "0 0 * * *");
});
