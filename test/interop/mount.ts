// Mounts a bucket with s3fs and unmounts it after the test. The mount point is outside the scene's
// folder, so that removing the folder does not delete the files in the bucket.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtemp, readFile, realpath, rmdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { outcomeOf } from "../cli/store.ts";
import type { ClientScene } from "./scene.ts";

export interface Mount {
  readonly folder: string;
  /** Unmounts, and waits until everything is written and s3fs has exited. */
  unmount(): Promise<void>;
}

const patience = 20_000;

export async function mountBucket(
  t: TestContext,
  { start }: ClientScene,
  args: readonly string[],
): Promise<Mount> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "store-mount-")));
  // Run s3fs in the foreground, so that the test can end its process.
  const child = start([...args.slice(0, 1), folder, "-f", ...args.slice(1)]);
  child.stdin.end();
  const outcome = outcomeOf(child);
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  t.after(async () => {
    if (await isMounted(folder)) spawnSync("fusermount", ["-u", "-z", folder]);
    child.kill("SIGKILL");
    await outcome;
    await rmdir(folder);
  });
  const end = Date.now() + patience;
  while (!(await isMounted(folder))) {
    if (hasEnded() || Date.now() > end) {
      child.kill("SIGKILL");
      const { code, stdout, stderr } = await outcome;
      assert.fail(`s3fs ${args.join(" ")}: not mounted, ${code}\n${stdout}${stderr}`);
    }
    await delay(50);
  }
  return {
    folder,
    async unmount() {
      const { status, stderr } = spawnSync("fusermount", ["-u", folder], {
        encoding: "utf8",
        timeout: patience,
      });
      assert.equal(status, 0, stderr);
      const late = setTimeout(() => child.kill("SIGKILL"), patience);
      const { code } = await outcome;
      clearTimeout(late);
      assert.equal(code, 0, "s3fs exited without an error");
      assert.equal(await isMounted(folder), false);
    },
  };
}

async function isMounted(folder: string): Promise<boolean> {
  const mounts = (await readFile("/proc/mounts", "utf8")).split("\n");
  return mounts.some((line) => line.split(" ")[1] === folder);
}
