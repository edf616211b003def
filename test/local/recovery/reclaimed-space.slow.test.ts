// The space that killed processes left is reclaimed soon after the next opening, without waiting
// for a sweep.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { openStore } from "../../../src/index.ts";
import { bucketPaths, dataLayout } from "../../../src/local/disk/layout.ts";
import { KiB } from "../../support/bodies.ts";
import { bucketIds } from "../../support/disk/on-disk.ts";
import { temporaryDirectory } from "../../support/stores.ts";
import type { OverwriterTask } from "./overwriter.ts";

const size = 16 * KiB;
const keys = Array.from({ length: 40 }, (_, index) => `key ${index}`);
const live = keys.length * size;
const program = fileURLToPath(new URL("./overwriter.js", import.meta.url));

async function runAndDie(task: OverwriterTask): Promise<void> {
  const child = spawn(process.execPath, [program, JSON.stringify(task)], { stdio: "inherit" });
  const [, signal] = await once(child, "exit");
  assert.equal(signal, "SIGKILL");
}

test("the disk space of overwritten and deleted bodies is freed after their writers were killed", async (t) => {
  const directory = await temporaryDirectory(t);
  const first = await openStore(directory);
  await first.createBucket("bucket");
  await first.close();
  const { segments, open } = bucketPaths(dataLayout(directory), bucketIds(directory).get("bucket")!);

  function bytesOnDisk(): number {
    const bytes = (name: string) => statSync(join(segments, name), { throwIfNoEntry: false })?.size ?? 0;
    return readdirSync(segments).reduce((sum, name) => sum + bytes(name), 0);
  }
  /** Waits until the used space is at most `most`, in a process that only opens the directory. */
  async function becomes(most: number): Promise<void> {
    const store = await openStore(directory);
    const end = Date.now() + 60_000;
    while (bytesOnDisk() > most || readdirSync(open).length > 1) {
      assert.ok(Date.now() < end, `${bytesOnDisk()} bytes are left, ${most} expected at most`);
      await pause(20);
    }
    await store.close();
  }

  for (let kill = 0; kill < 8; kill++) await runAndDie({ directory, act: "overwrite", keys, size });
  await becomes(2 * live);
  await runAndDie({ directory, act: "delete", keys, size });
  assert.ok(bytesOnDisk() >= live, "the deleted bodies are still there");
  await becomes(0);
});
