// Environments: which keys `--env NAME` inherits from the top level of a configuration.
import assert from "node:assert/strict";
import { test } from "node:test";
import { configErrorFor, type ReadOptions, readConfig } from "../../../src/script/config/config.ts";
import { now, type Project, project, type Row, refusals } from "../../support/projects.ts";

const wrangler = `name = "gallery"
main = "src/index.ts"
compatibility_date = "2026-01-01"
route = "gallery.example.com/*"
r2_buckets = [{ binding = "IMAGES", bucket_name = "images" }]
d1_databases = [{ binding = "DB" }]
[vars]
TITLE = "Gallery"
[triggers]
crons = ["0 4 * * *"]

[env.staging]
vars = { TITLE = "Staging" }
routes = ["staging.example.com/*"]
[[env.staging.r2_buckets]]
binding = "IMAGES"
bucket_name = "images-staging"

[env.production]
name = "gallery-live"
`;

const ours = wrangler
  .replaceAll("r2_buckets", "store_buckets")
  .replace('route = "gallery.example.com/*"', 'routes = ["gallery.example.com/*"]')
  .replace('d1_databases = [{ binding = "DB" }]\n', "");

async function read({ write }: Project, name: string, text: string, options: ReadOptions = {}) {
  return readConfig(await write(name, text), { now, ...options });
}

for (const [file, text] of [
  ["wrangler.toml", wrangler],
  ["store.toml", ours],
] as const) {
  test(`${file}: an environment inherits keys that describe the script, but no bindings or variables`, async (t) => {
    const files = await project(t);
    const staging = await read(files, file, text, { environment: "staging" });
    assert.deepEqual([staging.name, staging.environment], ["gallery-staging", "staging"]);
    assert.deepEqual(staging.routes, ["staging.example.com/*"]);
    assert.deepEqual(staging.crons, ["0 4 * * *"]);
    assert.deepEqual(staging.vars, { TITLE: "Staging" });
    assert.deepEqual(staging.buckets, [{ binding: "IMAGES", bucketName: "images-staging" }]);
    assert.deepEqual(staging.unsupported, []);

    const production = await read(files, file, text, { environment: "production" });
    assert.deepEqual([production.name, production.routes], ["gallery-live", ["gallery.example.com/*"]]);
    assert.deepEqual([production.vars, production.buckets], [{}, []]);

    const top = await read(files, file, text);
    assert.deepEqual([top.name, top.vars], ["gallery", { TITLE: "Gallery" }]);
    assert.equal((await read(files, file, text, { environment: "" })).name, "gallery");
  });

  test(`${file}: an error found after parsing is reported at its position in the environment`, async (t) => {
    const config = await read(await project(t), file, text, { environment: "staging" });
    for (const one of [config, structuredClone(config)]) {
      const { faults } = configErrorFor(one, ["store_buckets", 0, "bucket_name"], "There is no such bucket.");
      assert.equal(text.split("\n")[faults[0]!.line - 1], 'bucket_name = "images-staging"');
    }
  });

  test(`${file}: an unknown environment is refused with the nearest name and a list of all names`, async (t) => {
    const files = await project(t);
    await assert.rejects(
      read(files, file, text, { environment: "stagng" }),
      /There is no environment "stagng": did you mean staging\?[\s\S]*They are: staging, production/,
    );
    const [head] = text.split("[env.staging]");
    await assert.rejects(read(files, file, head!, { environment: "x" }), /The file has no environments/);
  });
}

const least = 'name = "a"\nmain = "src/index.ts"\ncompatibility_date = "2026-01-01"\n';
const rows: readonly Row[] = [
  {
    what: "a mistyped key in an unused environment",
    text: `${least}[env.staging]\nmian = "x"\n`,
    at: "5:1",
    says: ['"mian" is not a key of env.staging: did you mean main?'],
  },
  {
    what: "a key in an environment that is only allowed at the top level",
    text: `${least}[env.staging]\nrecords = "postgres://x/y"\n`,
    at: "5:1",
    says: ['"records" is not a key of env.staging.'],
  },
  {
    what: "an environment that is not a table",
    text: `${least}env = { staging = "x" }\n`,
    at: "4:19",
    says: ['"env.staging" must be a table, not a string.'],
  },
  {
    what: "an invalid name of an environment",
    text: `${least}[env."my env"]\n`,
    at: "4:6",
    says: ['An environment cannot be called "my env".', "letters, digits, dashes and underscores"],
  },
];

test("each mistake in the environments of a store file is reported at its position", async (t) => {
  await refusals(t, await project(t), "store.toml", rows);
});

test("a wrangler file whose bindings are all in environments gets a note that names the environments", async (t) => {
  const text = `${least}[[env.live.r2_buckets]]\nbinding = "A"\nbucket_name = "aaa"\n`;
  const { notes } = await read(await project(t), "wrangler.toml", text);
  assert.deepEqual(notes, [
    "wrangler.toml: buckets and namespaces are bound only in its environments; start again with --env live.",
  ]);
});
