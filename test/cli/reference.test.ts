// The man page can be formatted, and every command has --json.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { catalog } from "../../src/cli/catalog.ts";
import { readArguments } from "../../src/cli/framework/arguments.ts";
import { isGroup } from "../../src/cli/framework/command.ts";
import { temporaryDirectory } from "../support/stores.ts";
import { runInProcess, storeInProcess } from "./in-process.ts";
import { root } from "./store.ts";

test("groff formats the man page without a warning", (t) => {
  const { status, stderr, error } = spawnSync(
    "groff",
    ["-man", "-ww", "-z", join(root, "packaging/store.1")],
    {
      encoding: "utf8",
    },
  );
  if (error !== undefined) return t.diagnostic("NOT TESTED: groff is not installed.");
  assert.deepEqual([status, stderr], [0, ""]);
});

test("the version is printed by --version and -v, and as JSON", async (t) => {
  const directory = await temporaryDirectory(t);
  const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as { version: string };
  assert.equal(await storeInProcess(directory, "-v"), `${version}\n`);
  assert.equal(await storeInProcess(directory, "--version"), `${version}\n`);
  assert.deepEqual(JSON.parse(await storeInProcess(directory, "--version", "--json")), { version });
});

/** Commands that run until they are stopped, with the test that covers their --json. */
const servers = ["dev", "serve"];

test("every command accepts --json, and prints JSON where it runs without arguments", async (t) => {
  const directory = await temporaryDirectory(t);
  await storeInProcess(directory, "bucket", "create", "photos");
  let printed = 0;
  for (const { name, load } of catalog) {
    const entry = await load();
    const commands = isGroup(entry)
      ? entry.commands.map((command) => [`${name} ${command.name}`, command] as const)
      : [[name, entry] as const];
    for (const [path, command] of commands) {
      const [form = ""] = command.usage;
      const words = form.split(" ").filter((word) => /^[<a-z]/.test(word));
      const { options } = readArguments(path, command, [...words, "--json"]);
      assert.ok(options.flag("json"), path);
      if (servers.includes(path)) continue;
      const { code, stdout, stderr } = await runInProcess([...path.split(" "), "--json"], { directory });
      if (code !== 0) {
        assert.equal(stdout, "", `store ${path} fails without a result: ${stderr}`);
        continue;
      }
      printed++;
      // The audit log has an object in each line, so that it can be followed.
      const texts = path === "audit" ? stdout.trimEnd().split("\n") : [stdout];
      for (const text of texts)
        assert.doesNotThrow(() => JSON.parse(text), `store ${path} --json: ${stdout}`);
    }
  }
  assert.ok(printed >= 15, `${printed} commands ran`);
});
