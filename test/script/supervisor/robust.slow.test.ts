// Scripts that block, exit, leak memory or throw outside of a request: later requests are served,
// other scripts are not affected, and the event is logged.
import assert from "node:assert/strict";
import { Agent } from "node:http";
import { availableParallelism } from "node:os";
import { type TestContext, test } from "node:test";
import { isAlive, scriptProcesses, until } from "../inside.ts";
import { openScene, type Scene, scriptScene, writeScript } from "../scene.ts";
import type { Server } from "../server.ts";

/** Timeout of a request in milliseconds: longer than a busy machine needs to answer. */
const patience = 30_000;

const source = `
const hoard = [];
export default {
  async fetch(request, env) {
    switch (new URL(request.url).pathname) {
      case "/block":
        console.log("blocking now");
        for (;;) {}
      case "/work": {
        const { user } = process.cpuUsage();
        while (process.cpuUsage().user - user < 1_500_000) {}
        return new Response("worked");
      }
      case "/exit":
        process.exit(1);
      case "/kill":
        process.kill(process.pid, "SIGKILL");
        return new Promise(() => {});
      case "/leak":
        for (;;) {
          hoard.push(Array.from({ length: 50_000 }, (_, i) => ({ i })));
          await new Promise(setImmediate);
        }
      case "/throw":
        setTimeout(() => { throw new Error("on the side"); });
        return new Response("thrown");
      case "/count": {
        const count = Number(await (await env.BUCKET.get("count"))?.text() ?? 0) + 1;
        await env.BUCKET.put("count", String(count));
        if (count === 1) process.exit(1);
        return new Response(String(count));
      }
      default:
        return new Response(String(process.pid));
    }
  },
};`;

/** Asserts that requests on new connections are served; returns the ids of the processes. */
async function stillServes({ ask }: Server, times: number): Promise<Set<string>> {
  const pids = new Set<string>();
  for (let i = 0; i < times; i++) {
    const began = Date.now();
    const { status, text } = await ask({
      method: i % 2 === 0 ? "GET" : "PUT",
      ...(i % 2 === 0 ? {} : { body: "x" }),
    });
    assert.equal(status, 200, text);
    assert.ok(Date.now() - began < patience, `served after ${Date.now() - began} ms`);
    pids.add(text);
  }
  return pids;
}

async function start(t: TestContext, mode: "dev" | "serve"): Promise<{ scene: Scene; server: Server }> {
  const scene = await scriptScene(t, source);
  return { scene, server: await scene.start(mode, { args: ["--script-memory", "64"] }) };
}

/** Sends a request that makes the process misbehave; resolves with its status or error code. */
function trouble({ ask }: Server, path: string): Promise<string> {
  return ask(path).then(
    ({ status }) => String(status),
    ({ code }: NodeJS.ErrnoException) => code ?? "failed",
  );
}

for (const mode of ["dev", "serve"] as const) {
  test(`store ${mode}: a process whose event loop is blocked by a script is replaced, and finally killed`, async (t) => {
    const { server } = await start(t, mode);
    const before = await stillServes(server, 4);
    const blocked = trouble(server, "/block");
    // Wait until the process blocks: a connection that it accepts earlier would never be answered.
    await server.told(/blocking now/);
    const after = await stillServes(server, 8);
    assert.ok([...after].some((pid) => !before.has(pid)) || mode === "serve");
    await server.told(/Script "script" has blocked its event loop: another process takes over/);
    const processes = mode === "dev" ? 1 : availableParallelism();
    await until(
      () => scriptProcesses(server.pid).length === processes + 2,
      "there is one more process and a spare process",
    );
    // Stop the server before it kills the blocked process: the shutdown must end that process too.
    const { code } = await server.stop();
    assert.equal(code, 0);
    assert.match(await blocked, /^(ECONNRESET|503)$/);
    assert.match(server.log(), /did not recover: its blocked process is ended/);
  });

  test(`store ${mode}: after a script exits, exceeds its memory limit or throws, later requests are served`, async (t) => {
    const { server } = await start(t, mode);
    let pids = await stillServes(server, 4);
    const replaced = async (t: TestContext) => {
      const began = Date.now();
      const isNew = async () => [...(await stillServes(server, 2))].some((pid) => !pids.has(pid));
      await until(isNew, "a new process serves");
      t.diagnostic(`a new process serves after ${Date.now() - began} ms`);
      pids = await stillServes(server, 4);
    };

    await t.test("an uncaught error outside of a request does not end the script's process", async () => {
      assert.equal((await server.ask("/throw")).text, "thrown");
      await server.told(/Uncaught: Error: on the side/);
      for (const pid of await stillServes(server, 4)) assert.ok(pids.has(pid));
    });
    for (const [path, how] of [
      ["/exit", "exit code 1"],
      ["/kill", "signal SIGKILL"],
    ] as const) {
      await t.test(`a process that ends with ${how} is replaced`, async (t) => {
        assert.match(await trouble(server, path), /^(ECONNRESET|503)$/);
        await replaced(t);
        await server.told(new RegExp(`Script "script" ended \\(${how}\\): starting it again`));
      });
    }
    await t.test("a process that exceeds its memory limit is replaced", async (t) => {
      assert.match(await trouble(server, "/leak"), /^(ECONNRESET|503)$/);
      await replaced(t);
      await server.told(/Script "script" ended \(signal SIGABRT\)/);
    });
    await t.test("a process that blocks its event loop is replaced, but still responds", async (t) => {
      const work = server.ask("/work");
      await server.told(/has blocked its event loop/);
      await replaced(t);
      assert.equal((await work).text, "worked");
      const processes = mode === "dev" ? 1 : availableParallelism();
      const isGone = () => scriptProcesses(server.pid).length === processes + 1;
      await until(isGone, "the replaced process has ended and there is a spare process");
    });
    assert.doesNotMatch(server.log(), /did not recover/);
  });
}

test("a process that gets no CPU time is not replaced, and serves again when it continues", async (t) => {
  const { server } = await start(t, "serve");
  const pids = [...(await stillServes(server, 4))].map(Number);
  const [stopped] = pids;
  process.kill(stopped!, "SIGSTOP");
  t.after(() => isAlive(stopped!) && process.kill(stopped!, "SIGCONT"));
  const served = await stillServes(server, 8);
  assert.ok(!served.has(String(stopped)));
  // Wait longer than the supervisor tolerates a blocked process that uses the CPU.
  await new Promise((resolve) => setTimeout(resolve, 1500));
  process.kill(stopped!, "SIGCONT");
  await until(
    async () => (await stillServes(server, 8)).has(String(stopped)),
    "the stopped process serves again",
  );
  assert.doesNotMatch(server.log(), /another process takes over/);
});

test("a request whose process dies while a script handles it is not retried", async (t) => {
  const { server } = await start(t, "dev");
  assert.equal((await server.ask("/count")).status, 503);
  assert.equal((await server.ask("/count")).text, "2");
});

test("a script that blocks or dies does not affect other scripts or the S3 API", async (t) => {
  const scene = await openScene(t);
  const configs = [
    await writeScript(scene, { name: "bad", source, config: 'routes = ["bad.example/*"]' }),
    await writeScript(scene, { name: "good", source }),
  ];
  const server = await scene.start("serve", { configs });
  const bad = (path: string) => server.ask({ path, headers: { host: "bad.example" } }).catch(() => undefined);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const good = async () => {
    const began = Date.now();
    assert.equal((await server.ask({ agent })).status, 200);
    // The S3 API answers 403, because the request is not signed.
    assert.equal((await fetch(server.announced.s3.url)).status, 403);
    return Date.now() - began;
  };
  const troubles = [bad("/block"), bad("/exit"), bad("/block")];
  let longest = 0;
  for (let i = 0; i < 50; i++) longest = Math.max(longest, await good());
  assert.ok(longest < patience, `served after ${longest} ms`);
  assert.match((await bad("/"))!.text, /^\d+$/);
  agent.destroy();
  await server.stop();
  await Promise.all(troubles);
});

test("a spare process that dies unused is replaced", async (t) => {
  const { scene, server } = await start(t, "dev");
  const serving = Number((await server.ask("/")).text);
  await until(() => scriptProcesses(server.pid).length === 2, "there is a spare process");
  const [spare] = scriptProcesses(server.pid).filter((pid) => pid !== serving);
  process.kill(spare!, "SIGKILL");
  await until(() => !isAlive(spare!), "the spare process has ended");
  await scene.write("src/index.ts", "export default { fetch: () => new Response('new') };");
  await server.told(/changed: reloaded/);
  assert.equal((await server.ask("/")).text, "new");
});
