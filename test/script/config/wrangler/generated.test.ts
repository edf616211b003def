// Wrangler files that a build tool generated: found, accepted with all their keys, and of one
// environment. What points outside of the project or at nothing is refused.
import assert from "node:assert/strict";
import { mkdir, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type ReadOptions, readConfig } from "../../../../src/script/config/config.ts";
import { describeIgnored, findConfig, findSource } from "../../../../src/script/config/find-config.ts";
import { ConfigError } from "../../../../src/script/config/syntax/error.ts";
import { now, project } from "../../../support/projects.ts";
import { temporaryDirectory } from "../../../support/stores.ts";
import { deployConfig, generatedConfig, writeBuild } from "../../built-project.ts";

const generatedFile = "dist/gallery/wrangler.json";

async function builtProject(t: TestContext) {
  const files = await project(t);
  await writeBuild(files);
  return {
    ...files,
    generated: join(files.directory, generatedFile),
    pointer: (value: unknown) => files.write(".wrangler/deploy/config.json", JSON.stringify(value)),
  };
}

test("the wrangler file that a build generated is preferred to the author's, but not to a store file", async (t) => {
  const { directory, generated, write } = await builtProject(t);
  assert.equal(findConfig(directory), generated);
  assert.equal(findSource(directory), join(directory, "wrangler.jsonc"));
  assert.equal(
    describeIgnored(directory),
    `Using ${generatedFile}, which a build made from wrangler.jsonc. Run the build again after a change.`,
  );
  await write("store.toml", "");
  assert.equal(findConfig(directory), join(directory, "store.toml"));
  assert.equal(describeIgnored(directory), "Using store.toml; wrangler.jsonc is ignored.");
});

test("a project whose only configuration is generated is found", async (t) => {
  const { directory, generated } = await builtProject(t);
  await rm(join(directory, "wrangler.jsonc"));
  assert.equal(findConfig(directory), generated);
});

test("further scripts of a build are named with the options that run all of them", async (t) => {
  const { directory, write, pointer } = await builtProject(t);
  await write("dist/second/wrangler.json", "{}");
  await pointer({ ...deployConfig, auxiliaryWorkers: [{ configPath: "../../dist/second/wrangler.json" }] });
  assert.match(
    describeIgnored(directory) ?? "",
    /\nThe build .+: store dev --config dist\/gallery\/wrangler\.json --config dist\/second\/wrangler\.json$/,
  );
});

test("every key of a generated file is accepted, and only what its author wrote is noted", async (t) => {
  const { directory, generated } = await builtProject(t);
  const config = readConfig(generated, { now, mode: "dev" });
  assert.equal(config.main, join(directory, "dist/gallery/index.js"));
  assert.equal(config.assets?.directory, join(directory, "dist/client"));
  assert.deepEqual(config.buckets, [{ binding: "PHOTOS", bucketName: "photos" }]);
  assert.deepEqual(config.notes, ["wrangler.json: these keys have no effect in Store: observability."]);
});

test("--env must be the environment that the project was built for", async (t) => {
  const { directory, write, generated } = await builtProject(t);
  const read = (environment: string) => readConfig(generated, { now, environment });
  assert.throws(() => read("staging"), /built for the top level of the file[\s\S]*CLOUDFLARE_ENV=staging/);
  const built = { ...generatedConfig(directory), name: "gallery-staging", targetEnvironment: "staging" };
  await write(generatedFile, JSON.stringify(built));
  assert.deepEqual([read("staging").name, read("staging").environment], ["gallery-staging", "staging"]);
  assert.throws(() => read("production"), /built for the environment "staging"/);
});

test("assets without a folder are accepted until the script runs, which needs the build", async (t) => {
  const { directory } = await builtProject(t);
  const read = (options: ReadOptions) => readConfig(join(directory, "wrangler.jsonc"), { now, ...options });
  assert.equal(read({}).assets?.binding, "ASSETS");
  assert.throws(() => read({ mode: "dev" }), /"directory" is missing in assets[\s\S]*npm run build/);
});

test("a generated file that is missing, malformed or outside of the project is refused with the build to run", async (t) => {
  const { directory, pointer, write } = await builtProject(t);
  const outside = await temporaryDirectory(t);
  await mkdir(join(outside, "folder"));
  await symlink(outside, join(directory, "link"));
  await write("../wrangler.json", "{}");
  t.after(() => rm(join(directory, "../wrangler.json")));
  await write("link/folder/wrangler.json", "{}");
  await write("dist/other.json", "{}");
  const rows: readonly (readonly [unknown, RegExp])[] = [
    [[], /config\.json:1:1: A build writes an object here/],
    [{}, /config\.json:1:1: "configPath" must be the path/],
    [{ configPath: 7 }, /config\.json:1:15: "configPath" must be the path/],
    [{ configPath: "" }, /"configPath" must be the path/],
    [{ configPath: "../../dist/gone/wrangler.json" }, /"dist\/gone\/wrangler\.json" is missing/],
    [{ configPath: "../../dist" }, /"dist" is missing/],
    [{ configPath: "../../../wrangler.json" }, /"\.\.\/wrangler\.json" is outside of the project/],
    [{ configPath: "../../link/folder/wrangler.json" }, /is outside of the project/],
    [{ configPath: "../../dist/other.json" }, /"other\.json" is not the name of a wrangler file/],
    [{ ...deployConfig, auxiliaryWorkers: [{}] }, /"configPath" must be the path/],
    [{ ...deployConfig, auxiliaryWorkers: ["x"] }, /"configPath" must be the path/],
  ];
  for (const [value, expected] of rows) {
    await pointer(value);
    assert.throws(
      () => findConfig(directory),
      (error) => {
        assert.ok(error instanceof ConfigError, String(error));
        assert.match(error.message, expected);
        assert.match(error.message, /npm run build\n {2}Or delete \.wrangler\/deploy\/config\.json/);
        return true;
      },
    );
  }
  await write(".wrangler/deploy/config.json", "{");
  assert.throws(() => findConfig(directory), ConfigError);
});
