// `store init` and `store types`: a working project, and types that follow its configuration.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { readConfig } from "../../../src/script/config/config.ts";
import { filesIn, openShell, root, shellIn } from "../store.ts";

const run = promisify(execFile);
const files = [
  ".gitignore",
  "README.md",
  "package.json",
  "src",
  "src/index.ts",
  "store-env.d.ts",
  "store.toml",
  "tsconfig.json",
];

test("init creates a project whose configuration, script and types match, and prints the next steps", async (t) => {
  const shell = await openShell(t);
  const told = await shell.store("init", "my photos");
  const directory = join(shell.directory, "my photos");
  assert.deepEqual(Object.keys(await filesIn(directory)).sort(), files);
  for (const file of files.filter((name) => name !== "src")) assert.ok(told.includes(`\n  ${file}\n`), file);
  assert.match(told, /Next:\n {2}cd 'my photos'\n {2}store bucket create my-photos\n {2}store dev\n$/);

  const config = readConfig(join(directory, "store.toml"));
  assert.equal(config.name, "my-photos");
  assert.deepEqual(config.buckets, [{ binding: "BUCKET", bucketName: "my-photos" }]);
  assert.match(config.compatibilityDate, /^\d{4}-\d\d-\d\d$/);
  const inside = shellIn(directory);
  assert.equal(await inside.store("types", "--check"), "Up to date: store-env.d.ts\n");
  await inside.store("bucket", "create", "my-photos");
  assert.match(await readFile(join(directory, ".gitignore"), "utf8"), /^\.store\/$/m);

  // Link the package into node_modules, as npm install does.
  const { devDependencies } = JSON.parse(await readFile(join(directory, "package.json"), "utf8")) as {
    devDependencies: { "store-server": string };
  };
  const linked = join(directory, devDependencies["store-server"].replace(/^file:/, ""));
  await mkdir(join(directory, "node_modules"));
  await symlink(linked, join(directory, "node_modules", "store-server"));
  const { name } = JSON.parse(
    await readFile(join(directory, "node_modules", "store-server", "package.json"), "utf8"),
  ) as {
    name: string;
  };
  assert.equal(name, "store-server");
  await run(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", directory]);
});

test("the script written by init responds like the reference script of the specification", async (t) => {
  const shell = await openShell(t);
  await shell.store("init");
  const { build } = await import("esbuild");
  const outfile = join(shell.directory, "script.mjs");
  await build({ entryPoints: [join(shell.directory, "src/index.ts")], outfile, format: "esm" });
  const { default: script } = (await import(outfile)) as {
    default: { fetch(request: Request, env: unknown): Promise<Response> };
  };
  const { openStore } = await import("../../../src/index.ts");
  const store = await openStore("memory:");
  t.after(() => store.close());
  await store.createBucket("photos");
  const env = { BUCKET: store.bucket("photos") };
  const send = async (method: string, body?: string) => {
    const request = new Request("http://host/a/cat.txt", { method, ...(body === undefined ? {} : { body }) });
    const response = await script.fetch(request, env);
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  assert.deepEqual(pick(await send("GET")), [404, "Object Not Found"]);
  assert.deepEqual(pick(await send("PUT", "a cat")), [200, "Put a/cat.txt successfully!"]);
  const got = await send("GET");
  assert.deepEqual(pick(got), [200, "a cat"]);
  assert.equal(got.headers.get("etag"), (await env.BUCKET.head("a/cat.txt"))?.httpEtag);
  assert.deepEqual(pick(await send("DELETE")), [200, "Deleted!"]);
  const refused = await send("PATCH", "");
  assert.equal(refused.status, 405);
  assert.equal(refused.headers.get("allow"), "PUT, GET, DELETE");
});

function pick({ status, text }: { status: number; text: string }): [number, string] {
  return [status, text];
}

test("init writes no file at all if one of its files exists", async (t) => {
  const shell = await openShell(t);
  for (const name of ["README.md", "store.json", "store-env.d.ts"]) {
    const directory = join(shell.directory, `with-${name}`);
    await mkdir(directory);
    await writeFile(join(directory, name), "mine");
    const before = await filesIn(directory);
    const told = await shell.fails(1, ["init", basename(directory)]);
    assert.match(told, new RegExp(`already contains ${name.replaceAll(".", "\\.")}; nothing was written`));
    assert.deepEqual(await filesIn(directory), before);
  }
  await writeFile(join(shell.directory, "file"), "mine");
  assert.match(await shell.fails(1, ["init", "file"]), /Cannot create a project in .*file/);
  await mkdir(join(shell.directory, "half"));
  await writeFile(join(shell.directory, "half", "src"), "a file where a folder must be");
  await shell.fails(1, ["init", "half"]);
  assert.deepEqual(
    await readdir(join(shell.directory, "half")),
    ["src"],
    "files written before the failure are removed",
  );
});

test("init accepts a folder with other files, derives the script's name from the folder, and supports --json", async (t) => {
  const shell = await openShell(t);
  await mkdir(join(shell.directory, "ÄÖ"));
  await writeFile(join(shell.directory, "ÄÖ", "notes.txt"), "mine");
  const made = JSON.parse(await shell.store("init", "ÄÖ", "--json")) as { name: string; files: string[] };
  assert.equal(made.name, "project");
  assert.deepEqual(
    [...made.files].sort(),
    files.filter((name) => name !== "src"),
  );
  await shell.store("init", "a");
  const { name, buckets } = readConfig(join(shell.directory, "a", "store.toml"));
  assert.deepEqual([name, buckets[0]!.bucketName], ["a", "a-bucket"]);
});

test("store types declares configuration and secrets; --check writes nothing and sets the exit code", async (t) => {
  const shell = await openShell(t);
  await shell.store("init");
  const file = join(shell.directory, "store-env.d.ts");
  await writeFile(
    join(shell.directory, "store.toml"),
    `${await readFile(join(shell.directory, "store.toml"), "utf8")}\n[vars]\nLIMIT = 3\n`,
  );
  const before = await readFile(file, "utf8");
  assert.match(
    await shell.fails(1, ["types", "--check"]),
    /store-env\.d\.ts is out of date\.\n.*store types/,
  );
  assert.equal(await readFile(file, "utf8"), before);
  assert.equal(await shell.store("types"), "Wrote store-env.d.ts\n");
  assert.match(await readFile(file, "utf8"), /LIMIT: number;/);
  assert.deepEqual(JSON.parse(await shell.store("types", "--json")), { file, changed: false });
  assert.deepEqual(
    Object.keys(await filesIn(shell.directory)).sort(),
    files,
    "no data directory was created",
  );

  await shell.run(["secret", "put", "TOKEN"], { input: "t" });
  await shell.fails(1, ["types", "--check"]);
  await shell.store("types");
  assert.match(await readFile(file, "utf8"), /TOKEN: string;/);
  assert.equal(await shell.store("types", "--check"), "Up to date: store-env.d.ts\n");
  await shell.store("types", "--check", "--data", "elsewhere", "--secret", "TOKEN");
  await shell.fails(1, ["types", "--check", "--data", "elsewhere"]);
});

test("store types fails with a hint if the configuration is missing or its output path is a folder", async (t) => {
  const shell = await openShell(t);
  await shell.store("init", "project");
  await rm(join(shell.directory, "project", "store-env.d.ts"));
  const config = ["--config", "project/store.toml"];
  assert.equal(await shell.store("types", ...config), "Wrote project/store-env.d.ts\n");
  await rm(join(shell.directory, "project", "store-env.d.ts"));
  await mkdir(join(shell.directory, "project", "store-env.d.ts"));
  assert.match(
    await shell.fails(1, ["types", ...config]),
    /Cannot read ".*store-env\.d\.ts": it is a folder/,
  );
  assert.match(await shell.fails(1, ["types"]), /There is no store\.toml.*\n.*store init/);
});
