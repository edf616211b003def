// A small Debian in a folder, in which packages are installed and commands run.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Returns why a Debian cannot be made here; undefined if it can. */
export function whyNoDebian(): string | undefined {
  if (process.getuid?.() !== 0) return "this needs root";
  return spawnSync("mmdebstrap", ["--version"]).error === undefined
    ? undefined
    : "mmdebstrap is not installed";
}

/** Downloads a minimal Debian to a new folder; undefined if no mirror is reachable. */
export function makeDebian(suite: string): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), "store-debian-"));
  // Without a mirror, mmdebstrap uses its default.
  const args = ["--variant=minbase", "--mode=root", suite, folder];
  const { status } = spawnSync("mmdebstrap", args, {
    stdio: ["ignore", "ignore", "inherit"],
    timeout: 900_000,
  });
  return status === 0 ? folder : undefined;
}

/** Runs a command in the folder's Debian, with nothing of this machine's environment. */
export function runIn(folder: string, command: string): string {
  const env = { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", DEBIAN_FRONTEND: "noninteractive" };
  const { status, stdout, stderr } = spawnSync("chroot", [folder, "sh", "-c", command], {
    env,
    encoding: "utf8",
  });
  assert.equal(status, 0, `${command}: ${stderr}${stdout}`);
  return stdout;
}
