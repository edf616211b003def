// Sets up a project as a reader of the documentation has it: a folder with files, `store dev`
// running in it, and the programs that commands call.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { outcomeOf, shellIn } from "../../cli/store.ts";
import { temporaryDirectory } from "../../support/stores.ts";

/** The compiled source; cloneFolder links it as `dist`. */
const built = fileURLToPath(new URL("../../../src", import.meta.url));

/** Creates a folder in which commands and imports of the documentation work as in a clone. */
export async function cloneFolder(t: TestContext, name: string): Promise<string> {
  const clone = await temporaryDirectory(t);
  const manifest = { name: "store-server", type: "module", exports: { ".": "./dist/index.js" } };
  await writeFile(join(clone, "package.json"), JSON.stringify(manifest));
  await symlink(built, join(clone, "dist"));
  const folder = join(clone, "examples", name);
  await mkdir(folder, { recursive: true });
  return folder;
}

export async function writeFiles(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
}

/** The S3 API that `store dev` starts, and the access key it creates. */
export interface StartedS3 {
  readonly url: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** Runs `store dev` on free ports during `work`. The URL has no trailing slash. */
export async function withDev<T>(
  folder: string,
  args: readonly string[],
  work: (url: string, s3: StartedS3) => Promise<T>,
): Promise<T> {
  const server = shellIn(folder).start([
    "dev",
    "--create-buckets",
    "--port",
    "0",
    "--s3-port",
    "0",
    "--console-port",
    "0",
    "--json",
    ...args,
  ]);
  const ended = outcomeOf(server);
  try {
    const first = await Promise.race([once(createInterface(server.stdout), "line"), ended]);
    assert.ok(Array.isArray(first), `store dev did not start: ${JSON.stringify(first)}`);
    const { url, s3 } = JSON.parse(String(first[0])) as { url: string; s3: StartedS3 };
    return await work(url.replace(/\/$/, ""), s3);
  } finally {
    server.kill("SIGTERM");
    await ended;
  }
}

/** Creates a folder for the PATH with the command `store` or the replacement for `curl`. */
export async function programFolder(t: TestContext, name: "store" | "curl"): Promise<string> {
  const files = { store: "../../../src/cli/main.js", curl: "./curl.js" };
  const file = fileURLToPath(new URL(files[name], import.meta.url));
  const folder = await temporaryDirectory(t);
  const text = `#!/bin/sh\nexec '${process.execPath}' '${file}' "$@"\n`;
  await writeFile(join(folder, name), text, { mode: 0o755 });
  return folder;
}

/** Creates a folder with the replacement for curl; returns undefined if curl is installed. */
export async function curlFolder(t: TestContext): Promise<string | undefined> {
  const hasCurl = spawnSync("curl", ["--version"]).status === 0;
  return hasCurl ? undefined : programFolder(t, "curl");
}
