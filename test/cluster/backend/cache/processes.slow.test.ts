// Processes that share a body cache which is far too small, and of which some are killed.
import assert from "node:assert/strict";
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import type { BackendBlob } from "../../../../src/cluster/backend/backend.ts";
import { read, write } from "../../../contracts/blob-backend/setup.ts";
import { assertBytes } from "../../../support/bytes.ts";
import { bytesOf, extent, MiB, openCacheScene } from "./scene.ts";

export interface ReaderOrder {
  readonly url: string;
  readonly directory: string;
  readonly size: number;
  readonly folders: number;
  readonly blobs: readonly BackendBlob[];
}

const program = fileURLToPath(new URL("./reader-process.js", import.meta.url));

test("processes share a cache: no wrong byte while they evict each other's files and are killed", async (t) => {
  const scene = await openCacheScene(t);
  const bodies = Array.from({ length: 24 }, (_, number) => Buffer.alloc(extent / 2 + number * 1000, number));
  const blobs: BackendBlob[] = [];
  for (const body of bodies) blobs.push(await write(scene.backend, body));
  const limits = { size: 8 * MiB, folders: 2 };
  const order: ReaderOrder = { url: scene.url, directory: scene.directory, ...limits, blobs };
  const wrong: unknown[] = [];
  const start = (): ChildProcess => {
    const reader = fork(program, [JSON.stringify(order)]);
    t.after(() => reader.kill("SIGKILL"));
    reader.on("message", (message: { kind: string }) => {
      if (message.kind === "wrong") wrong.push(message);
    });
    return reader;
  };
  const readers = [start(), start(), start()];
  await Promise.all(readers.map((reader) => once(reader, "message")));
  for (const reader of readers.splice(0, 2)) {
    const exited = once(reader, "exit");
    reader.kill("SIGKILL");
    await exited;
    const next = start();
    readers.push(next);
    await once(next, "message");
  }
  for (const reader of readers) {
    const exited = once(reader, "exit");
    reader.send("end");
    assert.deepEqual(await exited, [0, null]);
  }
  assert.deepEqual(wrong, []);
  const cached = scene.open(limits);
  await cached.close();
  const whole = scene.files().filter((file) => !file.endsWith(".tmp"));
  assert.ok(bytesOf(whole) <= limits.size, `${whole.length} files`);
  for (const [number, blob] of blobs.entries()) assertBytes(await read(cached, blob), bodies[number]!);
});
