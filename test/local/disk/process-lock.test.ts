// A process that acquires its lock while another clears stale locks is never treated as dead.
import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { acquireProcessLock, isProcessAlive } from "../../../src/local/disk/process-lock.ts";
import { temporaryDirectory } from "../../support/stores.ts";

test("a process is detected as alive while another process clears stale locks", async (t) => {
  const directory = await temporaryDirectory(t);
  acquireProcessLock(directory).close();
  const program = new URL("../../../src/local/disk/process-lock.js", import.meta.url).href;
  const isOver = new Uint8Array(new SharedArrayBuffer(1));
  const clearing = new Worker(
    `const { workerData, parentPort } = require("node:worker_threads");
    import(workerData.program).then(({ clearStaleLocks }) => {
      parentPort.postMessage("clearing");
      while (workerData.isOver[0] === 0) clearStaleLocks(workerData.directory);
    });`,
    { eval: true, workerData: { program, directory, isOver } },
  );
  const ended = once(clearing, "exit");
  try {
    await once(clearing, "message");
    for (let i = 0; i < 400; i++) {
      const lock = acquireProcessLock(directory);
      assert.ok(isProcessAlive(directory, lock.name));
      lock.close();
    }
  } finally {
    // The worker must end by itself, since a thread terminated inside the driver crashes the
    // process.
    isOver[0] = 1;
    await ended;
  }
});
