// File systems on loop devices with simulated power cuts: the file system is shut down without
// further writes, unmounted, and mounted again with the data that reached the device.
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
  /** Mount point. */
  readonly directory: string;
  /** Simulates the power cut: nothing more reaches the device. */
  cut(): void;
  /** Mounts the file system again. */
  restore(): Promise<void>;
  remove(): Promise<void>;
}

/** The minimum size of XFS. The image is sparse: only written blocks take space. */
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
  if (mounted !== undefined) throw new NotTested(`This machine cannot mount loop devices: ${mounted}`);
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

/** Runs a command; returns its error message, or undefined on success. */
function run(command: string, args: readonly string[]): string | undefined {
  const { status, stderr, error } = spawnSync(command, args, { encoding: "utf8" });
  return status === 0 ? undefined : (error?.message ?? stderr.trim());
}

function needed(command: string, args: readonly string[]): void {
  const failed = run(command, args);
  if (failed !== undefined) throw new NotTested(`${command} ${args.join(" ")}: ${failed}`);
}

/** Unmounts. Retries: SQLite files stay open until their statements are garbage-collected. */
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

/** Installs missing tools from Debian packages. */
export function installTools(): void {
  if (process.getuid?.() !== 0) throw new NotTested("Mounting loop devices requires root.");
  const isThere = () => run("xfs_io", ["-V"]) === undefined && run("mkfs.xfs", ["-V"]) === undefined;
  if (isThere()) return;
  for (const args of [["install"], ["update"], ["install"]]) {
    const packages = args[0] === "install" ? ["--yes", "--no-install-recommends", "xfsprogs"] : [];
    run("env", ["DEBIAN_FRONTEND=noninteractive", "apt-get", "-q", ...args, ...packages]);
    if (isThere()) return;
  }
  throw new NotTested("xfsprogs, needed to simulate power cuts, is missing and could not be installed.");
}
