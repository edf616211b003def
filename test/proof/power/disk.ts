// File systems on loop devices whose power is cut as far as a file system can tell: it is shut down without
// writing anything more, unmounted, and mounted again with what had reached its device.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { NotTested } from "../proof.ts";

export type FileSystem = "ext4" | "xfs";

export interface PowerDisk {
  readonly fileSystem: FileSystem;
  /** Where it is mounted. */
  readonly directory: string;
  /** From here on nothing more reaches the device. */
  cut(): void;
  /** The power comes back. */
  restore(): Promise<void>;
  remove(): Promise<void>;
}

/** XFS makes none that are smaller. Sparse: only what is written takes space. */
const imageBytes = 320 * 1024 * 1024;

export function makeDisk(folder: string, fileSystem: FileSystem): PowerDisk {
  const image = join(folder, `${fileSystem}.img`);
  const directory = join(folder, fileSystem);
  mkdirSync(directory);
  writeFileSync(image, "");
  truncateSync(image, imageBytes);
  needed(`mkfs.${fileSystem}`, ["-q", image]);
  const mount = () => run("mount", ["-o", "loop", "-t", fileSystem, image, directory]);
  const mounted = mount();
  if (mounted !== undefined) throw new NotTested(`This machine mounts no loop device: ${mounted}`);
  return {
    fileSystem,
    directory,
    cut() {
      const refused = run("xfs_io", ["-x", "-c", "shutdown", directory]);
      assert.equal(refused, undefined, "the file system is shut down");
    },
    async restore() {
      await unmount(directory);
      assert.equal(mount(), undefined, `${fileSystem} is mounted again`);
    },
    remove: () => unmount(directory),
  };
}

/** Why not, if not. */
function run(command: string, args: readonly string[]): string | undefined {
  const { status, stderr, error } = spawnSync(command, args, { encoding: "utf8" });
  return status === 0 ? undefined : (error?.message ?? stderr.trim());
}

function needed(command: string, args: readonly string[]): void {
  const failed = run(command, args);
  if (failed !== undefined) throw new NotTested(`${command} ${args.join(" ")}: ${failed}`);
}

/** A closed database's files stay open in this process until its statements are collected. */
async function unmount(directory: string): Promise<void> {
  for (let tries = 0; ; tries++) {
    const refused = run("umount", [directory]);
    if (refused === undefined) return;
    assert.ok(tries < 100, refused);
    collectGarbage();
    await delay(10);
  }
}

function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
}

/** The tools, from Debian where they are missing. */
export function installTools(): void {
  if (process.getuid?.() !== 0) throw new NotTested("Only root mounts loop devices.");
  const isThere = () => run("xfs_io", ["-V"]) === undefined && run("mkfs.xfs", ["-V"]) === undefined;
  if (isThere()) return;
  for (const args of [["install"], ["update"], ["install"]]) {
    const packages = args[0] === "install" ? ["--yes", "--no-install-recommends", "xfsprogs"] : [];
    run("env", ["DEBIAN_FRONTEND=noninteractive", "apt-get", "-q", ...args, ...packages]);
    if (isThere()) return;
  }
  throw new NotTested("xfsprogs, which cuts the power, is not there and cannot be installed from Debian.");
}
