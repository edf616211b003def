// Shutdown of a server: requests and waitUntil promises finish, and no process or file is left.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { Agent } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import { program } from "../../cli/store.ts";
import { s3Processes } from "../../s3/inside.ts";
import { open } from "../client.ts";
import { descendantsOf, isAlive, until } from "../inside.ts";
import { type Scene, scriptScene } from "../scene.ts";

const source = `
const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
export default {
  async fetch(request, env, ctx) {
    switch (new URL(request.url).pathname) {
      case "/slow":
        console.log("slow begins");
        await pause(500);
        return new Response("finished");
      case "/stream": {
        let left = 5;
        return new Response(new ReadableStream({
          async pull(controller) {
            if (left-- === 0) return controller.close();
            await pause(100);
            controller.enqueue(new TextEncoder().encode("piece "));
          },
        }));
      }
      case "/wait":
        ctx.waitUntil(pause(500).then(() => env.BUCKET.put("waited", "for")));
        return new Response("answered");
      case "/waited":
        return new Response((await (await env.BUCKET.get("waited"))?.text()) ?? "not yet");
      case "/loop":
        console.log("loop begins");
        for (;;);
      default:
        return new Response(String(process.pid));
    }
  },
};`;

/** Returns the temporary files that the server left in the scene's folder. */
function leftBehind({ directory }: Scene): string[] {
  return readdirSync(directory).filter((name) => !["src", "store.toml", ".store"].includes(name));
}

for (const mode of ["dev", "serve"] as const) {
  test(`store ${mode}: SIGTERM lets requests and waitUntil promises finish, then the exit code is 0`, async (t) => {
    const scene = await scriptScene(t, source);
    const server = await scene.start(mode);
    const agent = new Agent({ keepAlive: true });
    assert.match((await server.ask({ agent })).text, /^\d+$/);
    const pids = descendantsOf(server.pid);
    const streamed = server.ask("/stream");
    const slow = server.ask("/slow");
    assert.equal((await server.ask("/wait")).text, "answered");
    await server.told(/slow begins/);
    const began = Date.now();
    const { code, stderr } = await server.stop();
    assert.equal(code, 0, stderr);
    assert.equal((await slow).text, "finished");
    assert.equal((await streamed).text, "piece ".repeat(5));
    t.diagnostic(`ended after ${Date.now() - began} ms`);
    assert.ok(Date.now() - began < 40_000, "the server does not wait for idle connections");
    assert.match(stderr, /Shutting down: waiting for requests in flight to finish/);
    agent.destroy();
    assert.deepEqual(pids.filter(isAlive), [], "no process is left");
    assert.deepEqual(leftBehind(scene), [], "no file is left");
    await assert.rejects(server.ask("/"), /ECONNREFUSED/);
    const again = await scene.start("serve");
    assert.equal((await again.ask("/waited")).text, "for");
  });
}

test("Ctrl-C, which signals every process of the group, lets requests finish", async (t) => {
  const scene = await scriptScene(t, source);
  const args = [
    program,
    "dev",
    "--port",
    "0",
    "--s3-port",
    "0",
    "--console-port",
    "0",
    "--json",
    "--create-buckets",
  ];
  const child = spawn(process.execPath, args, {
    cwd: scene.directory,
    env: { PATH: process.env.PATH, TMPDIR: scene.directory },
    detached: true,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = (await once(child.stdout!, "data")) as [Buffer];
  const port = Number(/:(\d+)\//.exec(line.toString())![1]);
  const incoming = await open(port, { path: "/stream" });
  const pids = descendantsOf(child.pid!);
  process.kill(-child.pid!, "SIGINT");
  const [code] = (await once(child, "exit")) as [number | null];
  assert.equal(code, 0);
  let text = "";
  for await (const piece of incoming) text += String(piece);
  assert.equal(text, "piece ".repeat(5));
  assert.deepEqual(pids.filter(isAlive), []);
  assert.deepEqual(leftBehind(scene), []);
});

test("the server exits immediately on a second signal, and a killed supervisor leaves no script running", async (t) => {
  const scene = await scriptScene(t, source);
  for (const signals of [["SIGTERM", "SIGTERM"], ["SIGKILL"]] as const) {
    const server = await scene.start("serve");
    const slow = server.ask("/slow").catch(() => undefined);
    const pids = descendantsOf(server.pid);
    await server.told(/slow begins/);
    const stopped = server.stop(signals[0]);
    if (signals.length > 1) {
      await server.told(/Shutting down/);
      await server.stop("SIGTERM");
    }
    assert.equal((await stopped).code, signals[0]);
    await slow;
    await until(() => pids.every((pid) => !isAlive(pid)), "no process is left");
  }
});

/** Blocks the event loop of a process of Store's own for good when it gets the signal. */
const blocker = `
if (process.argv[1]?.endsWith("s3/server/worker.js"))
  process.on("SIGUSR2", () => {
    require("node:fs").writeFileSync(__dirname + "/blocked-" + process.pid, "");
    for (;;);
  });`;

test("after the supervisor is killed, blocked processes end, and the next start gets the same ports and data", async (t) => {
  const scene = await scriptScene(t, source);
  const environment = { NODE_OPTIONS: `--require=${await scene.write("blocker.cjs", blocker)}` };
  const server = await scene.start("serve", { environment });
  const { announced } = server;
  const pids = descendantsOf(server.pid);
  t.after(() => {
    for (const pid of pids.filter(isAlive)) process.kill(pid, "SIGKILL");
  });
  const blocked = s3Processes(server.pid);
  for (const pid of blocked) process.kill(pid, "SIGUSR2");
  server.ask("/loop").catch(() => undefined);
  await server.told(/loop begins/);
  await until(() => blocked.every((pid) => existsSync(join(scene.directory, `blocked-${pid}`))), "blocked");
  process.kill(server.pid, "SIGKILL");
  await until(() => !isAlive(server.pid), "the supervisor has ended");

  const ports = [
    ["--port", announced.url],
    ["--s3-port", announced.s3.url],
    ["--console-port", announced.console.url],
  ].flatMap(([option, url]) => [option!, new URL(url!).port]);
  const data = ["--data", join(scene.directory, ".store")];
  const next = scene.shell.start(["serve", "--config", "store.toml", ...data, "--json", ...ports]);
  t.after(() => next.kill("SIGKILL"));
  let errors = "";
  next.stderr.on("data", (chunk: Buffer) => {
    errors += chunk.toString();
  });
  const [line] = (await Promise.race([once(next.stdout, "data"), once(next, "exit")])) as [unknown];
  assert.match(String(line), /^\{/, errors);
  assert.deepEqual(pids.filter(isAlive), []);
});
