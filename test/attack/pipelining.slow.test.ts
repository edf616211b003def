// HTTP pipelining: the server handles one request of a connection at a time, in order, and does not
// buffer responses that the client does not read.
import assert from "node:assert/strict";
import { connect } from "node:net";
import { test } from "node:test";
import { s3Processes } from "../s3/inside.ts";
import { treeMemory } from "../support/process-tree.ts";
import { exchange, holdOpen, openTarget, type PortName, type Target } from "./target.ts";

const MiB = 1024 * 1024;
const many = 1500;
const largeBytes = 5 * MiB;
const maxGrowth = 64 * MiB;
/** Observation time, long enough for unread responses to accumulate in memory. */
const watchMilliseconds = 4000;

const get = (path: string, further = "") => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${further}\r\n`;

async function peakGrowth(pid: number, before: number): Promise<number> {
  let peak = 0;
  for (const end = Date.now() + watchMilliseconds; Date.now() < end; ) {
    peak = Math.max(peak, treeMemory(pid) - before);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return peak;
}

/** Returns a presigned GET with the Host header that the signature covers. */
function signedGet({ presigned, url }: Target, path: string): string {
  return `GET ${presigned("GET", path)} HTTP/1.1\r\nHost: ${new URL(url).host}\r\n\r\n`;
}

test("pipelined requests are answered in order and do not accumulate in memory", async (t) => {
  const target = await openTarget(t);
  const { call, ports, server } = target;
  for (const path of ["/site/large", "/bucket/large"]) {
    assert.equal((await call({ method: "PUT", path, body: Buffer.alloc(largeBytes, "large ") })).status, 200);
  }
  assert.equal(
    (await call({ method: "PUT", path: "/bucket/hello", body: Buffer.from("hello") })).status,
    200,
  );
  await target.assertServes();

  await t.test("1,500 pipelined small reads on one connection all get a response", async () => {
    const reads: Readonly<Partial<Record<PortName, string>>> = {
      s3: signedGet(target, "/bucket/hello"),
      script: get("/good"),
      console: get("/healthz"),
      public: get("/site/hello"),
    };
    for (const [name, text] of Object.entries(reads)) {
      const last = text.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
      const found = await exchange(ports[name as PortName], text.repeat(many - 1) + last, { keepOpen: true });
      assert.equal(found.statuses.length, many, `${name}: ${found.statuses.length} responses`);
      assert.ok(
        found.statuses.every((status) => status === 200),
        name,
      );
    }
  });
  await t.test("pipelined requests get their responses in request order", async () => {
    const texts = Array.from({ length: 500 }, (_, i) =>
      get(`/echo?n=<${i}>`, i === 499 ? "Connection: close\r\n" : ""),
    );
    const { text } = await exchange(ports.script, texts.join(""), { keepOpen: true });
    const found = [...text.matchAll(/n=(?:<|%3C)(\d+)/g)].map((match) => Number(match[1]));
    assert.deepEqual(
      found,
      Array.from({ length: 500 }, (_, i) => i),
    );
  });
  await t.test("a read pipelined after a write returns the written bytes", async () => {
    const { url, presigned } = target;
    const { host } = new URL(url);
    for (let round = 0; round < 20; round++) {
      const body = `round ${round} ${"x".repeat(round * 3000)}`;
      const length = `Content-Length: ${body.length}\r\n`;
      const s3 = [
        `PUT ${presigned("PUT", "/bucket/behind")} HTTP/1.1\r\nHost: ${host}\r\n${length}\r\n${body}`,
        `GET ${presigned("GET", "/bucket/behind")} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
      ];
      const script = [
        `PUT /behind HTTP/1.1\r\nHost: localhost\r\n${length}\r\n${body}`,
        get("/behind", "Connection: close\r\n"),
      ];
      for (const [name, pair] of [
        ["s3", s3],
        ["script", script],
      ] as const) {
        const found = await exchange(ports[name], pair.join(""), { keepOpen: true });
        assert.deepEqual(found.statuses, [200, 200], name);
        assert.ok(found.text.endsWith(body), `${name}, round ${round}: the old content was read`);
      }
    }
  });
  for (const [name, text] of [
    ["public", get("/site/large")],
    ["s3", signedGet(target, "/bucket/large")],
    ["script", get("/large")],
  ] as const) {
    await t.test(
      `ten clients of the ${name} port that do not read large responses do not increase its memory`,
      async (t) => {
        const processes = s3Processes(server.pid);
        const before = treeMemory(server.pid);
        for (let i = 0; i < 10; i++) {
          const socket = await holdOpen(t, ports[name], `127.0.0.${2 + i}`);
          socket.pause();
          socket.write(text.repeat(many));
        }
        const growth = Math.round((await peakGrowth(server.pid, before)) / MiB);
        t.diagnostic(`memory grew by ${growth} MiB`);
        // Chunks of a script stay on its heap until garbage collection, so its limit is higher.
        const limit = (name === "script" ? 2 * maxGrowth : maxGrowth) / MiB;
        assert.ok(growth < limit, `memory grew by ${growth} MiB`);
        await target.assertServes();
        assert.deepEqual(s3Processes(server.pid), processes);
      },
    );
  }
  await t.test("3,000 pipelined reads of a client that disconnects do not increase memory", async () => {
    const before = treeMemory(server.pid);
    const socket = connect(ports.s3, "127.0.0.1");
    socket.on("error", () => {});
    socket.write(signedGet(target, "/bucket/large").repeat(3000));
    await new Promise((resolve) => socket.once("data", resolve));
    socket.pause();
    const growth = Math.round((await peakGrowth(server.pid, before)) / MiB);
    socket.resetAndDestroy();
    assert.ok(growth < maxGrowth / MiB, `memory grew by ${growth} MiB`);
    await target.assertServes();
  });
});
