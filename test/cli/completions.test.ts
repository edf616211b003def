// Shell completions, tested in the shells that are installed.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { completionScript, shells } from "../../src/cli/completions.ts";
import { temporaryDirectory } from "../support/stores.ts";

test("the bash completion script completes commands, subcommands and their options", async (t) => {
  const file = join(await temporaryDirectory(t), "completions");
  await writeFile(file, await completionScript("bash"));
  const complete = (...words: string[]) => {
    const line = `source '${file}'; COMP_WORDS=(store "$@"); COMP_CWORD=$#; _store; echo "\${COMPREPLY[@]}"`;
    const { stdout, stderr } = spawnSync("bash", ["-c", line, "bash", ...words], { encoding: "utf8" });
    assert.equal(stderr, "");
    return stdout.trim();
  };
  assert.equal(complete("buc"), "bucket");
  assert.equal(complete("bucket", "d"), "delete");
  assert.equal(complete("bucket", "--json", "delete", "--fo"), "--force");
  assert.equal(complete("object", "put", "photos/a", "--content-t"), "--content-type");
  assert.equal(complete("sync", "./a", "--d"), "--delete --dry-run --data");
  assert.equal(complete("nonsense", "x"), "");
});

test("completion scripts of every shell contain every command and are valid in installed shells", async (t) => {
  const { catalog } = await import("../../src/cli/catalog.ts");
  const directory = await temporaryDirectory(t);
  for (const shell of shells) {
    const script = await completionScript(shell);
    for (const { name } of catalog) assert.match(script, new RegExp(`\\b${name}\\b`), `${shell}: ${name}`);
    assert.ok(script.includes("storage-class"), shell);
    if (spawnSync(shell, ["--version"]).status !== 0) {
      t.diagnostic(`NOT TESTED: there is no ${shell} here to read its completions.`);
      continue;
    }
    const file = join(directory, shell);
    await writeFile(file, script);
    const read = spawnSync(shell, ["-n", file], { encoding: "utf8" });
    assert.equal(read.status, 0, `${shell}: ${read.stderr}`);
  }
});
