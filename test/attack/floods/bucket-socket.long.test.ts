// A hostile program on the socket of a bucket: huge lengths, bodies that stop, bodies that are never
// read, large metadata, pipelines. Every port answers meanwhile, and nothing is left of them.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { until } from "../../script/inside.ts";
import { openTarget } from "../target.ts";
import { openBystanders } from "./bystanders.ts";

const MiB = 1024 * 1024;
const maxGrowth = 256 * MiB;
/** Databases and logs that the server opens while it works. */
const maxNewDescriptors = 16;

const operation = (method: string, fields: object = {}) => JSON.stringify({ version: 1, method, ...fields });
const read = (json: string) => `GET / HTTP/1.1\r\nHost: x\r\ncf-r2-request: ${json}\r\n\r\n`;

/** A request with this metadata, which declares a body and sends the start of it. */
function write(json: string, { declared = 0, body = "" } = {}): string {
  const size = Buffer.byteLength(json);
  const lines = [`cf-r2-metadata-size: ${size}`, `Content-Length: ${size + declared}`];
  return `PUT / HTTP/1.1\r\nHost: x\r\n${lines.join("\r\n")}\r\n\r\n${json}${body}`;
}

const piece = "x".repeat(64 * 1024);
const get = read(operation("get", { object: "large" }));
const keys = Array.from({ length: 1000 }, (_, index) => `${index}`.padEnd(1000, "k"));
const names = Array.from({ length: 45_000 }, (_, index) => `"${index}":0`).join();

interface Flood {
  readonly count: number;
  readonly text: string;
  /** Whether the client reads what it is sent. */
  readonly reads: boolean;
}

const floods: Readonly<Record<string, Flood>> = {
  "puts of 4 GiB that stop": {
    ...{ count: 500, reads: true },
    text: write(operation("put", { object: "stops" }), { declared: 4096 * MiB, body: piece }),
  },
  "gets that are never read": { count: 300, reads: false, text: get },
  "pipelined gets that are never read": { count: 50, reads: false, text: get.repeat(1000) },
  "pipelined heads": {
    ...{ count: 200, reads: true },
    text: read(operation("head", { object: "small" })).repeat(500),
  },
  "metadata with many names": { count: 200, reads: true, text: write(`{${names}}`) },
  "metadata without its last byte": {
    ...{ count: 300, reads: true },
    text: write(`{"a":"${"a".repeat(2 * MiB - 10)}"}`).slice(0, -1),
  },
  "deletes of 1,000 keys": { count: 100, reads: true, text: write(operation("delete", { objects: keys })) },
  "heads without an end": { count: 500, reads: true, text: `GET / HTTP/1.1\r\nX: ${piece.slice(100)}` },
};

test("floods on the socket of a bucket delay no other port and leave nothing behind", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "store-socket-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, "bucket.sock");
  const target = await openTarget(t, undefined, ["--bucket-socket", `${path}=bucket`]);
  const { call, data, server } = target;
  const body = Buffer.alloc(5 * MiB, "large");
  assert.equal((await call({ method: "PUT", path: "/bucket/large", body })).status, 200);
  const bystanders = await openBystanders(t, target);
  const descriptors = () => readdirSync(`/proc/${server.pid}/fd`).length;
  const files = () =>
    readdirSync(data, { recursive: true }).filter((name) => !/\.db/.test(String(name))).length;
  const [openBefore, filesBefore] = [descriptors(), files()];
  for (const [what, { count, text, reads }] of Object.entries(floods)) {
    await t.test(`${what} delay no other port`, async () => {
      const sockets: Socket[] = [];
      await bystanders.during(what, async () => {
        for (let i = 0; i < count; i++) {
          const socket = connect(path).on("error", () => {});
          if (reads) socket.resume();
          else socket.pause();
          sockets.push(socket);
          await new Promise<void>((resolve) => {
            socket.once("close", () => resolve()).once("connect", () => resolve());
          });
          // The server may not read it to its end.
          socket.write(text, "latin1");
        }
        for (let round = 0; round < 10; round++) await target.assertServes();
      });
      for (const socket of sockets) socket.destroy();
      await until(() => descriptors() <= openBefore + maxNewDescriptors, "its descriptors are closed");
    });
  }
  await until(() => files() <= filesBefore + 4, "no file of an unfinished put is left");
  assert.equal((await call({ method: "HEAD", path: "/bucket/stops" })).status, 404);
  await bystanders.assertMemory("after all floods", maxGrowth);
  await target.assertServes();
  target.assertSameProcesses();
});
