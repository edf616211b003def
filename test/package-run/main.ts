// `npm run test:package`: packs the package, installs it in an empty folder without a compiler in
// PATH, and runs it. If no registry is reachable, the test is skipped with a warning.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmod,
  copyFile,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  realpath,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { root } from "../cli/store.ts";

const mostBytes = 60 * 1000 * 1000;
const unreachable = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH/;

/** Packs the current sources as npm would publish them; returns the path of the archive. */
async function pack(folder: string): Promise<string> {
  const tsc = join(root, "node_modules", ".bin", "tsc");
  const built = join(folder, "store");
  await mkdir(join(built, "packaging"), { recursive: true });
  const compiled = spawnSync(tsc, ["-p", join(root, "tsconfig.build.json"), "--outDir", join(built, "dist")]);
  assert.equal(compiled.status, 0, String(compiled.stdout));
  await chmod(join(built, "dist/cli/main.js"), 0o755);
  for (const name of [
    "package.json",
    "README.md",
    "LICENSE",
    "CHANGELOG.md",
    "packaging/store.service",
    "packaging/grafana-dashboard.json",
  ])
    await copyFile(join(root, name), join(built, name));
  await cp(join(root, "src/console/page"), join(built, "src/console/page"), { recursive: true });
  const packed = spawnSync("npm", ["pack", "--ignore-scripts", "--pack-destination", folder], { cwd: built });
  assert.equal(packed.status, 0, String(packed.stderr));
  return join(folder, (await readdir(folder)).find((name) => name.endsWith(".tgz"))!);
}

/** Creates a folder for PATH with only Node, npm and a shell. */
async function bareBin(folder: string): Promise<string> {
  const bin = join(folder, "bin");
  await mkdir(bin);
  await symlink(process.execPath, join(bin, "node"));
  const npm = spawnSync("sh", ["-c", "command -v npm"], { encoding: "utf8" }).stdout.trim();
  await symlink(await realpath(npm), join(bin, "npm"));
  await symlink("/bin/sh", join(bin, "sh"));
  return bin;
}

async function bytesIn(folder: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) bytes += (await stat(join(entry.parentPath, entry.name))).size;
  }
  return bytes;
}

test("the packed npm package installs in an empty folder without a compiler, and runs", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "store-package-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const tarball = await pack(folder);
  const empty = join(folder, "empty");
  await mkdir(empty);
  await writeFile(join(empty, "package.json"), "{}");
  const env = { ...process.env, PATH: await bareBin(folder) };
  const began = performance.now();
  const args = ["install", "--no-audit", "--no-fund", "--cache", join(folder, "cache"), tarball];
  const installed = spawnSync("npm", args, { cwd: empty, env, encoding: "utf8" });
  const seconds = (performance.now() - began) / 1000;
  if (installed.status !== 0 && unreachable.test(installed.stderr)) {
    console.error("\nNOT TESTED: the packed package could not be installed: no registry is reachable.\n");
    t.skip("no registry is reachable");
    return;
  }
  assert.equal(installed.status, 0, installed.stderr);
  const bytes = await bytesIn(join(empty, "node_modules"));
  console.log(`Installed ${(bytes / 1e6).toFixed(1)} MB in ${seconds.toFixed(1)} s with an empty cache.`);
  assert.ok(bytes <= mostBytes, `${bytes} bytes are installed`);

  const program = join(empty, "node_modules/.bin/store");
  const store = (...words: string[]) => {
    const run = spawnSync(program, words, { cwd: empty, env, encoding: "utf8", input: "Hello" });
    assert.equal(run.status, 0, `store ${words.join(" ")}: ${run.stderr}`);
    return run.stdout;
  };
  assert.match(store("--version"), /^\d+\.\d+\.\d+/);
  store("bucket", "create", "photos");
  store("object", "put", "photos/a", "-");
  assert.equal(store("object", "get", "photos/a"), "Hello");
  const made = store("init", "project");
  assert.match(made, /Next:\n {2}cd project\n {2}npm install\n {2}npx store-server bucket create project\n/);
  const project = join(empty, "project");
  const linked = spawnSync("npm", ["install", "--offline"], { cwd: project, env, encoding: "utf8" });
  assert.equal(linked.status, 0, linked.stderr);
  assert.ok((await stat(join(project, "node_modules/.bin/store"))).isFile());
  await serves(program, { cwd: empty, env });
  const service = join(dirname(program), "../store-server/packaging/store.service");
  assert.ok((await stat(service)).isFile());
});

/** Asserts that the server starts, answers requests and exits with code 0. */
async function serves(program: string, options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv }) {
  const server = spawn(program, ["serve", "--s3-port", "0", "--console-port", "0"], options);
  const ended = once(server, "close") as Promise<[number | null]>;
  let said = "";
  const urls = new Promise<string[]>((resolve, reject) => {
    for (const stream of [server.stdout, server.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        said += text;
        const found = /S3 API on (.*)\nConsole on (.*)\n/.exec(said);
        if (found !== null) resolve(found.slice(1));
      });
    }
    server.on("close", () => reject(new Error(said)));
  });
  try {
    const [s3 = "", console = ""] = await urls;
    const answer = await fetch(s3);
    await answer.arrayBuffer();
    assert.equal(answer.status, 403);
    // Served without its comments.
    assert.match(await (await fetch(`${console}/app.js`)).text(), /^\s*import \{ ApiError/);
  } finally {
    server.kill("SIGTERM");
  }
  assert.equal((await ended)[0], 0, said);
}
