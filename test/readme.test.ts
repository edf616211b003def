// What README shows is what happens: its example is run, and prints what README says it prints.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { cp, mkdir, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { temporaryDirectory } from "./support/stores.ts";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const run = promisify(execFile);

test("npm start runs the first example, and it prints what README shows", async (t) => {
  const readme = readFileSync(join(root, "README.md"), "utf8");
  const shown = /prints\n\n((?: {4}.*\n)+)/.exec(readme)?.[1]?.replaceAll(/^ {4}/gm, "");
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    scripts: { start: string };
  };
  const [command, file = ""] = scripts.start.split(" ");
  assert.equal(command, "node");

  // In a folder of its own, where the package is installed as it would be elsewhere.
  const directory = await temporaryDirectory(t);
  await mkdir(join(directory, "node_modules"));
  await symlink(root, join(directory, "node_modules", "store"));
  await cp(join(root, file), join(directory, "main.mjs"));
  const { stdout } = await run(process.execPath, ["main.mjs"], { cwd: directory });
  assert.equal(stdout, shown);
  const again = await run(process.execPath, ["main.mjs"], { cwd: directory });
  assert.equal(again.stdout, shown, "a second run finds its bucket");
});
