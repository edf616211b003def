// Bodies are streamed through scripts: 512 MiB in each direction with little memory.
import assert from "node:assert/strict";
import { test } from "node:test";
import { garbageBytes } from "../../support/process-tree.ts";
import { open } from "../client.ts";
import { residentMemory, scriptProcesses } from "../inside.ts";
import { scriptScene } from "../scene.ts";
import type { Server } from "../server.ts";

const MiB = 1024 * 1024;
const size = 512 * MiB;

const source = `
export default {
  async fetch(request, env) {
    if (request.method === "PUT") {
      await env.BUCKET.put("large", request.body);
      return new Response("stored");
    }
    return new Response((await env.BUCKET.get("large")).body);
  },
};`;

async function* bytes(length: number): AsyncIterable<Uint8Array> {
  const piece = Buffer.alloc(64 * 1024, "some bytes ");
  for (let sent = 0; sent < length; sent += piece.length) yield piece;
}

async function put({ port }: Server, length: number): Promise<void> {
  const headers = { "content-length": String(length) };
  const incoming = await open(port, { method: "PUT", body: bytes(length), headers });
  assert.equal(incoming.statusCode, 200);
  incoming.resume();
}

async function get({ port }: Server): Promise<number> {
  let length = 0;
  for await (const piece of await open(port, {})) length += (piece as Buffer).length;
  return length;
}

/** Returns the largest memory increase of one of the processes during `work`, in bytes. */
async function riseOf(pids: readonly number[], work: () => Promise<unknown>): Promise<number> {
  const start = pids.map(residentMemory);
  let rise = 0;
  const sampler = setInterval(() => {
    for (const [i, pid] of pids.entries()) rise = Math.max(rise, residentMemory(pid) - start[i]!);
  }, 10);
  await work();
  clearInterval(sampler);
  return rise;
}

for (const mode of ["dev", "serve"] as const) {
  test(`store ${mode}: streaming 512 MiB through a script raises the memory of every process by at most 64 MiB`, async (t) => {
    const scene = await scriptScene(t, source);
    const server = await scene.start(mode);
    // Warm up, so that code and buffer pools are not counted.
    for (let i = 0; i < 4; i++) {
      await put(server, 16 * MiB);
      await get(server);
    }
    const pids = [server.pid, ...scriptProcesses(server.pid)];
    const began = Date.now();
    const ofPut = await riseOf(pids, () => put(server, size));
    const between = Date.now();
    const ofGet = await riseOf(pids, async () => assert.equal(await get(server), size));
    const rate = (from: number, to: number) => `${Math.round(512 / ((to - from) / 1000))} MiB/s`;
    const inMiB = (count: number) => `${(count / MiB).toFixed(1)} MiB`;
    t.diagnostic(
      `PUT ${inMiB(ofPut)} at ${rate(began, between)}, GET ${inMiB(ofGet)} at ${rate(between, Date.now())}`,
    );
    assert.ok(ofPut <= 64 * MiB + garbageBytes, `PUT raised memory by ${inMiB(ofPut)}`);
    assert.ok(ofGet <= 64 * MiB + garbageBytes, `GET raised memory by ${inMiB(ofGet)}`);
    assert.doesNotMatch(server.log(), /Warning/);
  });
}
