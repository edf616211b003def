// A hostile script corrupts its channel to the supervisor, floods its output, forges log lines,
// loops, allocates and exits. The rest of the server still responds within a second.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { encodeText } from "../../src/http/sigv4.ts";
import { probeOnce } from "../proof/overload/checks.ts";
import type { ProbeCalls, ProbedPlace } from "../proof/overload/probe.ts";
import { s3Processes } from "../s3/inside.ts";
import { sendRaw, signRaw } from "../s3/raw.ts";
import type { Key } from "../s3/scene.ts";
import { isAlive, scriptProcesses, until } from "../script/inside.ts";
import { openScene, writeScript } from "../script/scene.ts";
import type { Server } from "../script/server.ts";
import { startCalledProcess } from "../support/called-process.ts";
import { treeMemory } from "../support/process-tree.ts";

const MiB = 1024 * 1024;

const bad = `
import { readFileSync, writeSync } from "node:fs";
const hoard = [];
const megabyte = "x".repeat(1024 * 1024);
const write = (text) => new Promise((resolve) => process.stdout.write(text, resolve));
const send = (message) => { try { process.send?.(message); } catch {} };
const forged = JSON.stringify({ time: new Date().toISOString(), face: "s3", operation: "FORGED", status: 200 });
export default {
  async fetch(request) {
    switch (new URL(request.url).pathname) {
      case "/null": send(null); break;
      case "/messages":
        for (const message of [undefined, 0, "", [], {}, { kind: null }, { kind: "request lines" }, { kind: "request lines", text: 1 },
          { kind: "metrics" }, { kind: "metrics", snapshot: null }, { kind: "metrics", snapshot: { a: 1 } }, { kind: "notified", id: 1 },
          { kind: "connection", id: -1, isTaken: true }, { kind: "ready" }, { kind: "failed" }, { kind: "ran", id: {} }]) send(message);
        break;
      case "/many-messages": for (let i = 0; i < 100_000; i++) send({ kind: "beat" }); break;
      case "/large-message": send({ kind: "request lines", text: "x".repeat(50_000_000) }); break;
      case "/descriptors":
        for (const descriptor of [3, 4, 5, 6]) {
          try { writeSync(descriptor, "garbage\\n\\0\\xff{]\\nnull\\n"); } catch {}
        }
        break;
      case "/forge":
        send({ kind: "request lines", text: forged + "\\n" });
        await write(forged + "\\n");
        break;
      case "/line": for (let i = 0; i < 32; i++) await write(megabyte); break;
      case "/lines": await write("a line of the flood\\n".repeat(50_000)); break;
      case "/exit": process.exit(1);
      case "/loop": for (;;) {}
      case "/allocate":
        for (;;) {
          hoard.push(Array.from({ length: 50_000 }, (_, i) => ({ i })));
          await new Promise(setImmediate);
        }
      case "/environment":
        return Response.json({ own: process.env, started: readFileSync("/proc/self/environ", "latin1") });
    }
    return new Response("done");
  },
};`;
const good = `export default { fetch: () => new Response("good") };`;

interface Stage {
  readonly server: Server;
  readonly requestLog: string;
  /** Sends a request to the hostile script and ignores errors. */
  attack(path: string): Promise<string>;
  /** Asserts that the other script, S3 and the console respond within a second. */
  assertOthersServed(what: string): Promise<void>;
}

const secretKey = randomBytes(32).toString("hex");

async function openStage(t: TestContext): Promise<Stage> {
  const scene = await openScene(t);
  const configs = [
    await writeScript(scene, { name: "bad", source: bad, config: 'routes = ["bad.example/*"]' }),
    await writeScript(scene, { name: "good", source: good }),
  ];
  const requestLog = join(scene.directory, "requests.log");
  const environment = { STORE_SECRET_KEY: secretKey };
  const args = ["--request-log", requestLog, "--script-memory", "64"];
  const server = await scene.start("serve", { configs, args, environment });
  const data = join(scene.directory, ".store");
  const made = await scene.shell.run(["key", "create", "--data", data, "--json"], { environment });
  const key = JSON.parse(made.stdout) as Key;
  const { url } = server.announced.s3;
  const raw = { method: "PUT", path: "/bucket/small", body: Buffer.from("small") };
  assert.equal((await sendRaw(url, signRaw(url, raw, { key, form: "header" }))).status, 200);
  const { query } = signRaw(url, { method: "GET", path: raw.path }, { key, form: "query", expires: 3600 });
  const parsePort = (address: string) => Number(new URL(address).port);
  const places: ProbedPlace[] = [
    { name: "script", port: server.port, path: "/" },
    { name: "healthz", port: parsePort(server.announced.console.url), path: "/healthz" },
    {
      name: "s3",
      port: parsePort(url),
      path: `${raw.path}?${query.map(([a, b]) => `${a}=${encodeText(b)}`).join("&")}`,
    },
  ];
  const program = fileURLToPath(new URL("../proof/overload/probe.js", import.meta.url));
  const probe = startCalledProcess<ProbeCalls>(program);
  t.after(() => probe.end());
  return {
    server,
    requestLog,
    attack: (path) =>
      server.ask({ path, headers: { host: "bad.example" } }).then(
        ({ text }) => text,
        (error: Error) => error.message,
      ),
    async assertOthersServed(what) {
      for (let round = 0; round < 5; round++) {
        assert.deepEqual(
          (await probeOnce({ probe, server }, places)).slow,
          [],
          `while a script attacks by ${what}`,
        );
      }
    },
  };
}

test("a hostile script does not affect the server or other scripts", async (t) => {
  const { server, requestLog, attack, assertOthersServed } = await openStage(t);
  const s3 = s3Processes(server.pid);
  const isBack = () => until(async () => (await attack("/")) === "done", "the hostile script is restarted");

  await t.test("the environment of a script contains no secret of the server", async () => {
    const seen = await attack("/environment");
    assert.match(seen, /PATH/);
    assert.ok(!seen.includes(secretKey), "the secret key is not in the environment");
    assert.doesNotMatch(seen, /STORE_(SECRET_KEY|RECORDS|BLOBS)/);
  });
  for (const path of [
    "/null",
    "/messages",
    "/many-messages",
    "/large-message",
    "/descriptors",
    "/forge",
    "/line",
    "/lines",
    "/exit",
    "/loop",
    "/allocate",
  ]) {
    await t.test(
      `a request to ${path} of the hostile script does not slow down or stop other services`,
      async () => {
        assert.ok(isAlive(server.pid), "the server runs");
        const before = treeMemory(server.pid);
        const attacked = attack(path);
        await assertOthersServed(path);
        await attacked;
        await assertOthersServed(path);
        await isBack();
        await until(
          () => treeMemory(server.pid) < before + 256 * MiB,
          "the memory of the script is released",
        );
      },
    );
  }
  await t.test("log lines forged by a script do not appear in the request log", async () => {
    const text = await readFile(requestLog, "utf8");
    assert.doesNotMatch(text, /FORGED/);
    for (const line of text.split("\n").filter(Boolean)) assert.equal(typeof JSON.parse(line), "object");
    assert.deepEqual(s3Processes(server.pid), s3, "no process of the S3 API was replaced");
    assert.ok(scriptProcesses(server.pid).length > 0);
    const { code } = await server.stop();
    assert.equal(code, 0, "the server exits normally");
  });
});
