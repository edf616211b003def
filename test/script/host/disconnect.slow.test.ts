// Clients that disconnect during a request: nothing incomplete is stored, no file stays open, and
// later requests are served.
import assert from "node:assert/strict";
import { once } from "node:events";
import { readdirSync, realpathSync } from "node:fs";
import { Agent } from "node:http";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { sampleBytes } from "../../support/bytes.ts";
import { blobFiles } from "../../support/disk/on-disk.ts";
import { converse, open } from "../client.ts";
import { openFiles, until } from "../inside.ts";
import { scriptScene } from "../scene.ts";

const source = `
export default {
  async fetch(request, env, ctx) {
    const { pathname } = new URL(request.url);
    const key = pathname.slice(1);
    if (request.method === "PUT") {
      console.log("uploading", key.slice(0, 20));
      try {
        await env.BUCKET.put(key, request.body);
      } catch (error) {
        console.log(key, "failed:", error.message);
        throw error;
      }
      return new Response("stored");
    }
    if (key === "pid") return new Response(String(process.pid));
    if (key === "late") {
      console.log("late begins");
      await new Promise((resolve) => setTimeout(resolve, 200));
      const object = await env.BUCKET.get("large");
      console.log("late ends");
      return new Response(object.body);
    }
    if (key === "watched") {
      console.log("watching");
      await new Promise((resolve) => request.signal.addEventListener("abort", resolve));
      console.log("the client of the request is gone:", request.signal.reason.name);
      return new Response();
    }
    if (key === "endless") {
      return new Response(new ReadableStream({
        pull: (controller) => controller.enqueue(new Uint8Array(65536)),
        cancel: () => console.log("endless was cancelled"),
      }));
    }
    const object = await env.BUCKET.get(key);
    return object === null ? new Response("none", { status: 404 }) : new Response(object.body);
  },
};`;

const large = sampleBytes(20_000_000);

for (const mode of ["dev", "serve"] as const) {
  test(`store ${mode}: a client that disconnects leaves no open file and no partial object`, async (t) => {
    const scene = await scriptScene(t, source);
    const { ask, port, told, log } = await scene.start(mode);
    const data = realpathSync(join(scene.directory, ".store"));
    await ask({ method: "PUT", path: "/large", body: large });
    // Warm up every process, so that files which stay open are open before descriptors are counted.
    const pids = new Set<number>();
    const count = mode === "dev" ? 1 : availableParallelism();
    await until(async () => {
      // All requests of one connection reach the same process.
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      await ask({ method: "PUT", path: "/warm", body: large.subarray(0, 1_000_000), agent });
      await ask({ path: "/large", agent });
      pids.add(Number((await ask({ path: "/pid", agent })).text));
      agent.destroy();
      return pids.size === count;
    }, "every process has served");
    const bodies = () =>
      [...pids]
        .flatMap((pid) => openFiles(pid, join(data, "buckets")))
        .filter((path) => path.includes("/blobs/"));
    const descriptors = () => [...pids].map((pid) => readdirSync(`/proc/${pid}/fd`).length);
    await until(() => blobFiles(data).length === 2, "the overwritten blobs are removed");
    await until(() => bodies().length === 0, "no body is open");
    const before = descriptors();
    const nothingLeft = async () => {
      await until(() => bodies().length === 0, "no body is open");
      const isBack = () => descriptors().every((count, i) => count <= before[i]!);
      await until(isBack, `no more descriptors than before: ${before} and now ${descriptors()}`);
    };

    for (const framing of ["Content-Length: 20000000", "Transfer-Encoding: chunked"]) {
      await t.test(`a PUT with ${framing} that the client aborts leaves no file`, async () => {
        const socket = await converse(port, "PUT /broken HTTP/1.1", "Host: a", framing, "");
        const chunk = large.subarray(0, 4_000_000);
        if (framing.startsWith("Transfer")) socket.write(`${chunk.length.toString(16)}\r\n`);
        socket.write(chunk);
        await until(() => bodies().length > 0, "the body is being written");
        socket.destroy();
        await nothingLeft();
        await until(() => blobFiles(data).length === 2, "no file is left");
        assert.equal((await ask("/broken")).status, 404);
      });
    }

    await t.test(
      "an error of the script is logged, unless the client has caused it by disconnecting",
      async () => {
        const socket = await converse(
          port,
          "PUT /aborted HTTP/1.1",
          "Host: a",
          "Content-Length: 200",
          "",
          "a",
        );
        await told(/uploading aborted/);
        socket.destroy();
        await told(/aborted failed: The client disconnected before the body of its request had arrived\./);
        const tooLong = "x".repeat(2000);
        assert.equal((await ask({ method: "PUT", path: `/${tooLong}`, body: "a" })).status, 500);
        await told(/^StoreError: put: .*\n +at /m);
        assert.doesNotMatch(log(), /^(Error: |StoreError: .*)(aborted|The client disconnected)|ECONNRESET/m);
      },
    );

    await t.test("a client that disconnects during a GET leaves no open file", async () => {
      const incoming = await open(port, { path: "/large" });
      await once(incoming, "readable");
      assert.equal(bodies().length, 1, "the body is being read");
      incoming.destroy();
      await nothingLeft();
    });

    await t.test("clients that disconnect during many concurrent GETs leave no open file", async () => {
      const all = await Promise.all(Array.from({ length: 20 }, () => open(port, { path: "/large" })));
      assert.equal(bodies().length, 20);
      for (const incoming of all) incoming.destroy();
      await nothingLeft();
    });

    await t.test("a client that disconnects before the script has answered leaves no open file", async () => {
      const socket = await converse(port, "GET /late HTTP/1.1", "Host: a", "");
      await told(/late begins/);
      socket.destroy();
      await told(/late ends/);
      await nothingLeft();
    });

    await t.test("a stream created by the script is cancelled when the client disconnects", async () => {
      const incoming = await open(port, { path: "/endless" });
      await once(incoming, "readable");
      incoming.destroy();
      await told(/endless was cancelled/);
    });

    await t.test("the signal of a request is aborted when its client disconnects", async () => {
      const socket = await converse(port, "GET /watched HTTP/1.1", "Host: a", "", "");
      await told(/watching/);
      socket.destroy();
      await told(/the client of the request is gone: AbortError/);
    });

    assert.ok((await ask("/large")).bytes.equals(large), "the object is unchanged");
  });
}
