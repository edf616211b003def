// Images without a daemon and without a registry: buildah, and a base image from a folder.
import assert from "node:assert/strict";
import { type SpawnSyncReturns, spawnSync } from "node:child_process";
import { copyFileSync, cpSync, existsSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { root } from "../cli/store.ts";
import { runIn } from "./debian.ts";

export function buildah(...args: string[]): SpawnSyncReturns<string> {
  const env = { ...process.env, BUILDAH_ISOLATION: "chroot" };
  return spawnSync("buildah", args, { cwd: root, env, encoding: "utf8", timeout: 1_500_000 });
}

/** Where npm is on Debian and in NodeSource's package. */
const npmFolder = "/usr/lib/node_modules/npm";
const authorities = "/etc/ssl/certs/ca-certificates.crt";

/** Gives a Debian what the official images of Node have: node, npm and the user `node`. */
export function addNode(debian: string): void {
  copyFileSync(process.execPath, join(debian, "usr/bin/node"));
  assert.ok(existsSync(npmFolder), `npm is in ${npmFolder}`);
  cpSync(npmFolder, join(debian, npmFolder), { recursive: true });
  symlinkSync("../lib/node_modules/npm/bin/npm-cli.js", join(debian, "usr/bin/npm"));
  mkdirSync(join(debian, "etc/ssl/certs"), { recursive: true });
  copyFileSync(authorities, join(debian, authorities));
  runIn(debian, "useradd --create-home --uid 1000 node");
}

export function commitFolder(folder: string, image: string): void {
  const container = buildah("from", "scratch").stdout.trim();
  const path = "PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
  // The builder may need the authorities of this machine to reach the registry of packages.
  const settings = ["--env", path, "--env", `NODE_EXTRA_CA_CERTS=${authorities}`, container];
  for (const args of [
    ["add", container, folder, "/"],
    ["config", ...settings],
    ["commit", container, image],
  ]) {
    const { status, stderr } = buildah(...args);
    assert.equal(status, 0, stderr);
  }
  buildah("rm", container);
}
