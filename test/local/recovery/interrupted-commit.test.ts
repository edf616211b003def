// A process that is killed during a commit can leave it in the log of the database, unknown to the
// processes that have the database open. Recovery must not remove its bytes and let it appear later.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { createEngine } from "../../../src/engine/create.ts";
import { openLocal } from "../../../src/local/open.ts";
import { temporaryDirectory } from "../../support/stores.ts";

test("a commit that no process knows of never appears without its bytes", async (t) => {
  const directory = await temporaryDirectory(t);
  const engine = createEngine(await openLocal(directory));
  await engine.createBucket("photos");
  await engine.put("photos", "cat", Buffer.from("a cat"));
  const index = logIndex(directory);
  const saved = join(await temporaryDirectory(t), "index");

  copyInOtherProcess(index, saved);
  const writer = fileURLToPath(new URL("./killed-after-put.js", import.meta.url));
  const { signal, stderr } = spawnSync(process.execPath, [writer, directory], { encoding: "utf8" });
  assert.equal(signal, "SIGKILL", stderr);
  copyInOtherProcess(saved, index);
  assert.equal(await engine.head("photos", "dog"), undefined, "no process knows of the commit");

  await engine.sweep();
  const crashed = await temporaryDirectory(t);
  cpSync(directory, crashed, { recursive: true });
  await engine.close();
  for (const file of readdirSync(crashed, { recursive: true, encoding: "utf8" }))
    if (file.endsWith("-shm")) rmSync(join(crashed, file));

  const opened = createEngine(await openLocal(crashed));
  const { damages, objects } = await opened.verify();
  assert.deepEqual({ damages, objects }, { damages: [], objects: 1 });
  await opened.close();
});

/** Path of the index of the bucket's log, in which SQLite keeps the number of known commits. */
function logIndex(directory: string): string {
  const buckets = join(directory, "buckets");
  return join(buckets, readdirSync(buckets)[0]!, "records.db-shm");
}

/** Closing the file in this process would release the locks that SQLite has on it. */
function copyInOtherProcess(from: string, to: string): void {
  // "a+" creates the file, "r+" overwrites the bytes that the processes have mapped.
  const program = `
    const [from, to] = process.argv.slice(1);
    fs.closeSync(fs.openSync(to, "a+"));
    fs.writeFileSync(to, fs.readFileSync(from), { flag: "r+" });`;
  const { status, stderr } = spawnSync(process.execPath, ["-e", program, from, to], { encoding: "utf8" });
  assert.equal(status, 0, stderr);
}
