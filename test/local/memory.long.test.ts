// Memory grows with the number of streams, not with their bytes, and no file descriptor stays open.
import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { once } from "node:events";
import { realpathSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { KiB, MiB } from "../support/bodies.ts";
import { blobFiles } from "../support/disk/on-disk.ts";
import { garbageBytes } from "../support/process-tree.ts";
import { temporaryDirectory } from "../support/stores.ts";
import type { Codes, Descriptors, Measurement, Memory } from "./memory-process.ts";

/** Measures in a new process, so that earlier work does not count. */
async function measure<T>(directory: string, measurement: Measurement): Promise<T> {
  const program = fileURLToPath(new URL("./memory-process.js", import.meta.url));
  const child = fork(program, [JSON.stringify({ directory, measurement })], { execArgv: ["--expose-gc"] });
  const exited = once(child, "exit");
  const [message] = (await Promise.race([once(child, "message"), exited])) as [T | number];
  await exited;
  assert.equal(child.exitCode, 0, "the process exited with code 0");
  return message as T;
}

function inMiB(bytes: number): string {
  return `${(bytes / MiB).toFixed(1)} MiB`;
}

test("writing and reading a body of 512 MiB increases memory by at most 64 MiB", async (t) => {
  const directory = await temporaryDirectory(t);
  const { put, get } = await measure<Memory>(directory, { of: "one stream", bytes: 512 * MiB });
  t.diagnostic(`put ${inMiB(put)}, get ${inMiB(get)}`);
  assert.ok(put <= 64 * MiB + garbageBytes, `put raised memory by ${inMiB(put)}`);
  assert.ok(get <= 64 * MiB + garbageBytes, `get raised memory by ${inMiB(get)}`);
});

test("200 concurrent streams of 4 MiB increase memory by at most 256 KiB each plus 64 MiB", async (t) => {
  const streams = 200;
  // A write uses two buffers of 64 KiB, a chunk and the first 16 KiB; a read uses two chunks of 64
  // KiB. The rest allows for garbage that is not collected yet.
  const most = streams * 256 * KiB + 64 * MiB + garbageBytes;
  const work = { of: "many streams", streams, bytes: 4 * MiB } as const;
  const tried = async () => measure<Memory>(await temporaryDirectory(t), work);
  let { put, get } = await tried();
  t.diagnostic(`put ${inMiB(put)}, get ${inMiB(get)}`);
  // On a busy machine the garbage collector runs late, so the smallest of a few measurements
  // counts.
  for (let again = 0; again < 3 && Math.max(put, get) > most; again++) {
    const next = await tried();
    t.diagnostic(`once more: put ${inMiB(next.put)}, get ${inMiB(next.get)}`);
    put = Math.min(put, next.put);
    get = Math.min(get, next.get);
  }
  assert.ok(put <= most, `puts raised memory by ${inMiB(put)}`);
  assert.ok(get <= most, `gets raised memory by ${inMiB(get)}`);
});

for (const left of ["cancelled", "unread", "half read", "half read in parts"] as const) {
  test(`a dropped body (${left}) does not keep its file descriptor open`, async (t) => {
    const directory = realpathSync(await temporaryDirectory(t));
    const { before, after } = await measure<Descriptors>(directory, { of: "bodies", left });
    assert.deepEqual(after, before);
  });
}

test("1,000 aborted puts leave no file and no open file descriptor", async (t) => {
  const directory = realpathSync(await temporaryDirectory(t));
  const { before, after } = await measure<Descriptors>(directory, { of: "aborted puts", times: 1000 });
  assert.deepEqual(after, before);
  assert.equal(blobFiles(directory).length, 1, "only the object that was kept has a file");
});

test("a deleted bucket has no open file descriptor after its store is closed and garbage is collected", async (t) => {
  const directory = realpathSync(await temporaryDirectory(t));
  const { after } = await measure<Descriptors>(directory, { of: "a deleted bucket" });
  assert.deepEqual(after, []);
});

test("a closed store has no open file descriptor after garbage collection", async (t) => {
  const directory = realpathSync(await temporaryDirectory(t));
  const { after } = await measure<Descriptors>(directory, { of: "a closed store" });
  assert.deepEqual(after, []);
});

test("a process without free file descriptors reports an error, not that its buckets are missing", async (t) => {
  const directory = await temporaryDirectory(t);
  const { without, again } = await measure<Codes>(directory, { of: "no descriptors" });
  assert.deepEqual(without, [10043, 10043]);
  assert.deepEqual(again, [0, 0]);
});
