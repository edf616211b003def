// Slow clients on every port send endless headers, send bodies byte by byte, or do not read
// responses. Other clients are served meanwhile, and memory is released afterwards.
import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { ask } from "../script/client.ts";
import { until } from "../script/inside.ts";
import { treeMemory } from "../support/process-tree.ts";
import { holdOpen, openTarget, type PortName, type Target } from "./target.ts";

const MiB = 1024 * 1024;
const slowClients = 60;
const drips = 10;
/** Maximum memory growth. Heaps may keep this much memory for reuse. */
const maxGrowth = 192 * MiB;

interface SlowClient {
  readonly what: string;
  readonly port: PortName;
  readonly head: string;
  /** Text that the client sends repeatedly; empty if it sends nothing after the head. */
  readonly drip: string;
}

function slowKinds({ presigned, url }: Target): readonly SlowClient[] {
  const { host } = new URL(url);
  const put = (path: string) => `PUT ${path} HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 1000000\r\n\r\n`;
  const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
  const endless = (line: string) => `${line} HTTP/1.1\r\nHost: ${host}\r\n`;
  return [
    { what: "headers that never end", port: "s3", head: endless("GET /"), drip: "X-A: a\r\n" },
    { what: "headers that never end", port: "script", head: endless("GET /good"), drip: "X-A: a\r\n" },
    { what: "headers that never end", port: "console", head: endless("GET /healthz"), drip: "X-A: a\r\n" },
    { what: "headers that never end", port: "public", head: endless("GET /site/hello"), drip: "X-A: a\r\n" },
    { what: "connections that send nothing", port: "s3", head: "", drip: "" },
    { what: "bodies sent byte by byte", port: "s3", head: put(presigned("PUT", "/bucket/slow")), drip: "x" },
    { what: "bodies sent byte by byte", port: "script", head: put("/slow"), drip: "x" },
    {
      what: "bodies sent byte by byte",
      port: "console",
      head: put("/api/session").replace("PUT", "POST"),
      drip: "x",
    },
    {
      what: "responses that are never read",
      port: "s3",
      head: get(presigned("GET", "/bucket/large")),
      drip: "",
    },
    { what: "responses that are never read", port: "script", head: get("/large"), drip: "" },
    { what: "responses that are never read", port: "public", head: get("/site/large"), drip: "" },
  ];
}

async function start(t: TestContext, { ports }: Target, { port, head }: SlowClient): Promise<Socket[]> {
  const sockets: Socket[] = [];
  for (let i = 0; i < slowClients; i++) {
    const socket = await holdOpen(t, ports[port], `127.0.0.${2 + (i % 20)}`);
    socket.pause();
    if (head !== "") socket.write(head);
    sockets.push(socket);
  }
  return sockets;
}

/** Asserts that S3 and a script can still write and read. */
async function assertUsable({ ports, call }: Target, round: number): Promise<void> {
  const body = Buffer.from(`round ${round}`);
  assert.equal((await call({ method: "PUT", path: "/bucket/honest", body })).status, 200);
  assert.equal((await call({ method: "GET", path: "/bucket/honest" })).text, body.toString());
  assert.equal((await ask(ports.script, { path: "/honest" })).text, body.toString());
}

test("slow clients do not prevent other clients from being served", async (t) => {
  const target = await openTarget(t);
  const { call, server } = target;
  for (const path of ["/site/large", "/bucket/large"]) {
    assert.equal((await call({ method: "PUT", path, body: Buffer.alloc(5 * MiB, "large ") })).status, 200);
  }
  await target.assertServes();
  const before = treeMemory(server.pid);
  for (const kind of slowKinds(target)) {
    await t.test(`${kind.what} on the ${kind.port} port do not block other clients`, async (t) => {
      const sockets = await start(t, target, kind);
      for (let round = 0; round < drips; round++) {
        if (kind.drip !== "") for (const socket of sockets) if (!socket.destroyed) socket.write(kind.drip);
        await assertUsable(target, round);
        await target.assertServes();
      }
      for (const socket of sockets) socket.destroy();
    });
  }
  assert.equal(
    (await call({ method: "HEAD", path: "/bucket/slow" })).status,
    404,
    "no incomplete object is stored",
  );
  await until(() => treeMemory(server.pid) < before + maxGrowth, "the memory of slow clients is released");
  target.assertSameProcesses();
});
