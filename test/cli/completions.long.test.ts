// Completions in interactive zsh and in fish, as a user types them. Not tested where a shell is missing.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { completionScript } from "../../src/cli/completions.ts";
import { openEngine } from "../../src/open.ts";
import { temporaryDirectory } from "../support/stores.ts";
import { program } from "./store.ts";

/** What is typed, and the line or the candidate that Tab makes of it. */
const rows = [
  ["store buc", "bucket"],
  ["store bucket inf", "info"],
  ["store backup --stag", "--staging"],
  ["store bucket info ph", "photos"],
  ["store bucket --data .store info ph", "photos"],
  ["store object get ph", "photos/"],
  ["store object get photos/2026/c", "photos/2026/c.jpg"],
  ["store object get photos/it", "photos/it's: odd"],
  ["store object get photos/2026/a", "photos/2026/a b.jpg"],
  ["store object get photos/2026/a\\ ", "photos/2026/a b.jpg"],
  ["store object get 'photos/2026/a ", "photos/2026/a b.jpg"],
] as const;

/** Types each line into an interactive zsh, presses Tab, and prints the line between << and >>. */
const zshDriver = `zmodload zsh/zpty
zpty z zsh -f -i
wait_for() {
  local got="" part
  while zpty -r z part; do got+=$part; [[ $got == *"$1"* ]] && break; done
  REPLY=$got
}
zpty -w z "PS1=''; stty -echo; unsetopt beep; autoload -Uz compinit; compinit -u -D; source $1"
zpty -w z "_result() { print -r -- \\"<<\\$BUFFER>>\\"; zle kill-whole-line }"
zpty -w z "zle -N _result; bindkey '^X' _result; bindkey '^I' complete-word; print rea''dy"
wait_for ready
shift
for line in "$@"; do
  zpty -w -n z "$line"$'\\t\\x18'
  wait_for '>>'
  print -r -- "$REPLY"
done
zpty -d z
`;

async function openFolder(t: TestContext, shell: "zsh" | "fish") {
  const directory = await temporaryDirectory(t);
  if (spawnSync(shell, ["--version"]).status !== 0) {
    t.skip(`NOT TESTED: ${shell} is not installed. Install it: apt-get install ${shell}`);
    return undefined;
  }
  const { engine } = await openEngine(join(directory, ".store"));
  await engine.createBucket("photos");
  for (const key of ["2026/a b.jpg", "2026/c.jpg", "it's: odd"])
    await engine.put("photos", key, Buffer.from("x"));
  await engine.close();
  await writeFile(join(directory, "store"), `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`);
  await chmod(join(directory, "store"), 0o755);
  await writeFile(join(directory, `completions.${shell}`), await completionScript(shell));
  const environment = { HOME: directory, PATH: `${directory}:${process.env.PATH}`, TERM: "xterm" };
  const options = { cwd: directory, env: environment, encoding: "utf8", timeout: 200_000 } as const;
  return { directory, options };
}

test("zsh completes commands, options, buckets and keys, also with spaces and quotes", async (t) => {
  const folder = await openFolder(t, "zsh");
  if (folder === undefined) return;
  await writeFile(join(folder.directory, "driver.zsh"), zshDriver);
  const lines = rows.map(([typed]) => typed);
  const { stdout, stderr } = spawnSync(
    "zsh",
    ["-f", "driver.zsh", "completions.zsh", ...lines],
    folder.options,
  );
  const results = [...stdout.matchAll(/<<(.*?)>>/g)].map(([, line]) => line!.trim());
  assert.equal(results.length, rows.length, stdout + stderr);
  for (const [i, [typed, expected]] of rows.entries()) {
    const shown = results[i]!.replaceAll(/\\(.)/g, "$1").replace(/'$/, "");
    assert.ok(shown.endsWith(expected), `${typed}: ${results[i]}`);
  }
});

test("fish completes commands, options, buckets and keys, also with spaces and quotes", async (t) => {
  const folder = await openFolder(t, "fish");
  if (folder === undefined) return;
  const script =
    "source completions.fish; for line in $argv; echo (complete -C $line | string join '|'); end";
  const lines = rows.map(([typed]) => typed);
  const { stdout, stderr } = spawnSync("fish", ["--no-config", "-c", script, ...lines], folder.options);
  const results = stdout.split("\n");
  for (const [i, [typed, expected]] of rows.entries()) {
    const names = results[i]!.split("|").map((one) => one.split("\t")[0]);
    assert.ok(names.includes(expected), `${typed}: ${results[i]} ${stderr}`);
  }
});
