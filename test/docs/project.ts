// A project as its reader would have it: files in a folder, `store dev` started in it as the documentation
// says, and the commands of the documentation sent to it.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { outcomeOf, shellIn } from "../cli/store.ts";
import { temporaryDirectory } from "../support/stores.ts";

/** What is built, where a clone has `dist/`. */
const built = fileURLToPath(new URL("../../src/", import.meta.url));

/** A folder in which `../../dist/cli/main.js` is the command and `import "store-server"` the package, as in a clone. */
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

/** The S3 API that `store dev` brings, and the key it makes. */
export interface StartedS3 {
  readonly url: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** `store dev` on a free port, for as long as the work takes. Its URL has no slash at the end. */
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

/** A folder with programs in it, for commands that call them by their names: our own `store`, or a stand-in. */
export async function programFolder(t: TestContext, name: "store" | "curl"): Promise<string> {
  const files = { store: "../../src/cli/main.js", curl: "./curl.js" };
  const file = fileURLToPath(new URL(files[name], import.meta.url));
  const folder = await temporaryDirectory(t);
  const text = `#!/bin/sh\nexec '${process.execPath}' '${file}' "$@"\n`;
  await writeFile(join(folder, name), text, { mode: 0o755 });
  return folder;
}

/** Where to find curl: nowhere in particular when there is one. */
export async function curlFolder(t: TestContext): Promise<string | undefined> {
  const hasCurl = spawnSync("curl", ["--version"]).status === 0;
  return hasCurl ? undefined : programFolder(t, "curl");
}
