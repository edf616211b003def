// `store secret`: values are read from stdin and never printed.
import assert from "node:assert/strict";
import { stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { openEngine } from "../../../src/open.ts";
import { loadSecretKey } from "../../../src/secrets/master-key.ts";
import { createSecrets } from "../../../src/secrets/secrets.ts";
import { filesIn, openShell, type Shell } from "../store.ts";

async function valuesOf({ directory }: Shell, script: string): Promise<Record<string, string>> {
  const location = join(directory, ".store");
  const { engine, documents } = await openEngine(location);
  try {
    return await createSecrets(documents, loadSecretKey(location, undefined)).values(script);
  } finally {
    await engine.close();
  }
}

async function project(shell: Shell): Promise<void> {
  await writeFile(join(shell.directory, "index.js"), "");
  await writeFile(
    join(shell.directory, "store.toml"),
    'name = "photos"\nmain = "index.js"\ncompatibility_date = "2026-11-01"\n' +
      '[[store_buckets]]\nbinding = "PHOTOS"\nbucket_name = "photos"\n[vars]\nGREETING = "hello"\n',
  );
}

test("secret put, secret list and secret delete use the script of the configuration by default", async (t) => {
  const shell = await openShell(t);
  await project(shell);
  const put = await shell.run(["secret", "put", "AUTH_KEY_SECRET"], { input: "s3cret\n" });
  assert.deepEqual(put, { code: 0, stdout: "Set AUTH_KEY_SECRET of script photos.\n", stderr: "" });
  await shell.run(["secret", "put", "SECOND", "--json"], { input: "2" });
  assert.deepEqual(await valuesOf(shell, "photos"), { AUTH_KEY_SECRET: "s3cret", SECOND: "2" });
  assert.equal(await shell.store("secret", "list"), "AUTH_KEY_SECRET\nSECOND\n");
  assert.deepEqual(JSON.parse(await shell.store("secret", "list", "--json")), [
    { name: "AUTH_KEY_SECRET" },
    { name: "SECOND" },
  ]);
  assert.equal(await shell.store("secret", "delete", "SECOND"), "Deleted SECOND of script photos.\n");
  assert.equal(await shell.store("secret", "list"), "AUTH_KEY_SECRET\n");
  assert.equal((await stat(join(shell.directory, ".store", "secret.key"))).mode & 0o777, 0o600);
});

test("secret commands with --script use the named script, and each script has its own secrets", async (t) => {
  const shell = await openShell(t);
  await project(shell);
  await shell.run(["secret", "put", "TOKEN"], { input: "mine" });
  await shell.run(["secret", "put", "TOKEN", "--script", "other"], { input: "its" });
  assert.deepEqual(await valuesOf(shell, "photos"), { TOKEN: "mine" });
  assert.deepEqual(await valuesOf(shell, "other"), { TOKEN: "its" });
  const empty = await shell.run(["secret", "list", "--script", "third"]);
  assert.deepEqual([empty.code, empty.stdout], [0, ""]);
  assert.match(empty.stderr, /has no secrets/);
});

test("secret put from stdin removes exactly one final newline", async (t) => {
  const shell = await openShell(t);
  const values: Record<string, string> = {
    PLAIN: "value",
    ONE: "value\n",
    WINDOWS: "value\r\n",
    TWO: "value\n\n",
    INSIDE: " a\nb \t",
    MARK: "\ufeffvalue",
  };
  for (const [name, input] of Object.entries(values)) {
    const { code, stderr } = await shell.run(["secret", "put", name, "--script", "app"], { input });
    assert.equal(code, 0, stderr);
  }
  assert.deepEqual(await valuesOf(shell, "app"), {
    PLAIN: "value",
    ONE: "value",
    WINDOWS: "value",
    TWO: "value\n",
    INSIDE: " a\nb \t",
    MARK: "\ufeffvalue",
  });
});

test("secret put refuses empty, binary and too long values and changes nothing", async (t) => {
  const shell = await openShell(t);
  const put = (input: string | Uint8Array) =>
    shell.fails(1, ["secret", "put", "TOKEN", "--script", "app"], { input });
  assert.match(await put(""), /The value is empty; nothing was changed/);
  assert.match(await put("\n"), /The value is empty/);
  assert.match(await put(Buffer.from([0xff, 0xfe])), /not UTF-8 text.*\n.*base64/);
  assert.match(await put("x".repeat(1024 * 1024 + 1)), /longer than 1 MiB/);
  assert.deepEqual(await filesIn(shell.directory), {}, "no data directory was created");
  assert.match(await put("x".repeat(65 * 1024)), /longer than 64 KiB/);
  await shell.store("secret", "list", "--script", "app");
});

test("a secret with the name of a binding or variable is refused", async (t) => {
  const shell = await openShell(t);
  await project(shell);
  for (const [name, what] of [
    ["PHOTOS", "a bucket binding"],
    ["GREETING", "a variable"],
  ] as const) {
    const told = await shell.fails(1, ["secret", "put", name], { input: "value" });
    assert.match(told, new RegExp(`env\\.${name} is already ${what} in the configuration`));
  }
});

test("a secret value appears neither in output nor in the data directory", async (t) => {
  const shell = await openShell(t);
  const input = "an-unmistakable-value-4711";
  const { stdout, stderr } = await shell.run(["secret", "put", "TOKEN", "--script", "app", "--json"], {
    input,
    environment: { STORE_DEBUG: "1" },
  });
  assert.equal(stderr, "");
  assert.deepEqual(JSON.parse(stdout), { script: "app", name: "TOKEN" });
  const { readdir, readFile } = await import("node:fs/promises");
  for (const entry of await readdir(shell.directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    assert.ok(!(await readFile(join(entry.parentPath, entry.name))).includes(input), entry.name);
  }
});

test("secret commands report configuration errors with their position, and use STORE_SECRET_KEY", async (t) => {
  const shell = await openShell(t);
  await project(shell);
  await writeFile(join(shell.directory, "bad.toml"), 'nam = "photos"\n');
  const told = await shell.fails(1, ["secret", "list", "--config", "bad.toml"]);
  assert.match(told, /^bad\.toml:1:1: /);
  const environment = { STORE_SECRET_KEY: "ab".repeat(32) };
  const put = await shell.run(["secret", "put", "TOKEN"], { input: "v", environment });
  assert.equal(put.code, 0, put.stderr);
  assert.ok(!("secret.key" in (await filesIn(join(shell.directory, ".store")))));
  const wrong = { input: "v", environment: { STORE_SECRET_KEY: "short" } };
  assert.match(
    await shell.fails(1, ["secret", "put", "TOKEN"], wrong),
    /STORE_SECRET_KEY must be 64 hex digits/,
  );
});
