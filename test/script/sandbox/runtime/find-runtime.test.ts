// Which runtime a sandbox uses: the project's, unless it is too old.
import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { findRuntime, oldestDate } from "../../../../src/script/sandbox/runtime/find-runtime.ts";
import { temporaryDirectory } from "../../../support/stores.ts";

const oldVersion = "1.20250709.0";
const newVersion = "1.20261023.1";
const platforms = ["linux-64", "linux-arm64", "darwin-64", "darwin-arm64"];

/** Creates a folder that has the package workerd, as npm installs it. */
async function installed(t: TestContext, version: string): Promise<string> {
  const directory = await temporaryDirectory(t);
  const packages = ["workerd", ...platforms.map((platform) => `@cloudflare/workerd-${platform}`)];
  for (const name of packages) {
    const folder = join(directory, "node_modules", name);
    await mkdir(join(folder, "bin"), { recursive: true });
    await writeFile(join(folder, "bin/workerd"), "");
    await writeFile(join(folder, "package.json"), JSON.stringify({ name, version }));
  }
  return directory;
}

test("a project's own runtime is used", async (t) => {
  const found = findRuntime([await installed(t, newVersion), await installed(t, "1.20261117.1")]);
  assert.ok(found.kind === "found");
  assert.deepEqual([found.runtime.version, found.note], [newVersion, undefined]);
});

test("the runtime beside Store is used instead of a project's that is too old, and a note says so", async (t) => {
  const found = findRuntime([await installed(t, oldVersion), await installed(t, newVersion)]);
  assert.ok(found.kind === "found");
  assert.equal(found.runtime.version, newVersion);
  assert.match(
    found.note ?? "",
    /^The project's workerd 1\.20250709\.0 is older than .+, so it runs in workerd 1\.20261023\.1,/,
  );
});

test("where every runtime is too old, the message has its version and the command that updates it", async (t) => {
  const directory = await installed(t, oldVersion);
  const search = findRuntime([directory, "/nonexistent"]);
  assert.ok(search.kind === "missing");
  const [, oldest] = /^The project's workerd 1\.20250709\.0 is older than a sandbox needs \((.+)\)\./.exec(
    search.message,
  )!;
  assert.equal(oldest, `1.${oldestDate.replaceAll("-", "")}`);
  assert.ok(search.message.endsWith(`Run in ${directory}: npm install workerd@latest`));
});
