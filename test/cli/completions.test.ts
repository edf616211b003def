// Shell completions, tested in the shells that are installed.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { listNames } from "../../src/cli/commands/completion/names.ts";
import { completionScript, shells } from "../../src/cli/completions.ts";
import type { Invocation } from "../../src/cli/framework/command.ts";
import { openEngine } from "../../src/open.ts";
import { temporaryDirectory } from "../support/stores.ts";
import { runInProcess } from "./in-process.ts";
import { program } from "./store.ts";

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
  const { shownCatalog } = await import("../../src/cli/catalog.ts");
  const directory = await temporaryDirectory(t);
  for (const shell of shells) {
    const script = await completionScript(shell);
    for (const { name } of shownCatalog)
      assert.match(script, new RegExp(`\\b${name}\\b`), `${shell}: ${name}`);
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

async function storeWithNames(directory: string): Promise<void> {
  const { engine } = await openEngine(join(directory, ".store"));
  await engine.createBucket("photos");
  await engine.createBucket("archive");
  for (const key of ["2026/a b.jpg", "2026/c.jpg", "cat.jpg"])
    await engine.put("photos", key, Buffer.from("x"));
  await engine.kv.createNamespace("cache");
  await engine.kv.put("cache", "colour", Buffer.from("red"));
  await engine.close();
  await writeFile(
    join(directory, "store.toml"),
    'name = "thumbs"\nmain = "x.ts"\ncompatibility_date = "2026-01-01"\n',
  );
  await writeFile(join(directory, "x.ts"), "export default {};\n");
  await mkdir(join(directory, ".config", "store"), { recursive: true });
  await writeFile(join(directory, ".config", "store", "profiles.json"), '{"profiles": {"work": {}}}');
}

test("completions know buckets, keys, namespaces, scripts and profiles, and are silent without a store", async (t) => {
  const directory = await temporaryDirectory(t);
  await storeWithNames(directory);
  const complete = async (line: string, folder = directory) => {
    const words = line.split(" ");
    const { code, stdout, stderr } = await runInProcess(["complete", "--", ...words], { directory: folder });
    assert.deepEqual([code, stderr], [0, ""], line);
    return stdout.trim().split("\n").join(" ");
  };
  assert.equal(await complete("bucket info "), "archive photos");
  assert.equal(await complete("bucket create "), "");
  assert.equal(await complete("bucket cors set ph"), "photos");
  assert.equal(await complete("bucket versioning p"), "photos");
  assert.equal(await complete("bucket versioning photos "), "on suspend");
  assert.equal(await complete("object get p"), "photos/");
  assert.equal(await complete("object get photos/"), "photos/2026/ photos/cat.jpg");
  assert.equal(await complete("object list photos/2026/c"), "photos/2026/c.jpg");
  assert.equal(await complete("kv get "), "cache");
  assert.equal(await complete("kv get cache c"), "colour");
  assert.equal(await complete("bucket notify add photos --script "), "thumbs");
  assert.equal(await complete("logs t"), "thumbs");
  assert.equal(await complete("nonsense x"), "");
  assert.equal(await complete("bucket info --data /nowhere "), "");
  assert.equal(await complete("bucket info ", await temporaryDirectory(t)), "");
});

test("the names of profiles are those of the user's profiles.json", async (t) => {
  const directory = await temporaryDirectory(t);
  await storeWithNames(directory);
  const environment = { HOME: directory };
  const request = { kind: "profile", word: "w", positional: [] } as const;
  assert.deepEqual(await listNames({ environment, directory } as unknown as Invocation, request), ["work"]);
});

test("a Tab in bash completes the names of the store, quoted for the shell", async (t) => {
  const directory = await temporaryDirectory(t);
  await storeWithNames(directory);
  const script = join(directory, "completions");
  await writeFile(script, await completionScript("bash"));
  const command = join(directory, "store");
  await writeFile(command, `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`);
  await chmod(command, 0o755);
  const words = [
    ["object", "get", "photos/2026/"],
    ["object", "get", "'photos/2026/a\\ b'"],
    ["bucket", "info", "a"],
  ];
  const lines = words.map(
    (line) =>
      `COMP_WORDS=(store ${line.join(" ")}); COMP_CWORD=${line.length}; _store; printf '%s|' "\${COMPREPLY[@]}"; echo`,
  );
  const { stdout, stderr } = spawnSync("bash", ["-c", [`source '${script}'`, ...lines].join("\n")], {
    encoding: "utf8",
    cwd: directory,
    env: { PATH: `${directory}:${process.env.PATH}`, HOME: directory },
  });
  assert.equal(stderr, "");
  assert.equal(stdout, "photos/2026/a\\ b.jpg|photos/2026/c.jpg|\nphotos/2026/a\\ b.jpg|\narchive|\n");
});
