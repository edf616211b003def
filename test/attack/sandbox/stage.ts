// A server with hostile scripts in sandboxes and a neighbour, also in a sandbox, whose latency is
// measured while the others attack.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdir, symlink } from "node:fs/promises";
import { Agent, createServer, type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { ask } from "../../script/client.ts";
import { isAlive, until } from "../../script/inside.ts";
import { openScene, type Scene, writeScript } from "../../script/scene.ts";
import type { Server } from "../../script/server.ts";
import { type Attack, type Facts, hostileScript } from "./attack.ts";

const good = `export default {
  async fetch(request, env) {
    const cached = await caches.default.match("http://good.example/").catch(() => undefined);
    if (cached !== undefined) return new Response("poisoned");
    await env.PRIVATE.head("secret");
    return new Response("good");
  },
};`;

export interface Stage {
  readonly scene: Scene;
  readonly facts: Facts;
  readonly server: Server;
  /** Number of requests that reached the server on loopback. */
  hits(): number;
  /** Measures the neighbour while nothing attacks. */
  quiet(): Promise<Omit<Measured, "answer">>;
  /** Runs the attack and measures the neighbour meanwhile; asserts that nothing got out. */
  run(index: number): Promise<Measured>;
}

export interface Measured {
  readonly answer: string;
  /** Milliseconds. */
  readonly p99: number;
  readonly requests: number;
}

export interface StageOptions {
  readonly attacks: readonly Attack[];
  readonly outbound?: string | ((facts: Facts) => string);
  readonly args?: readonly string[];
}

/** A neighbour is measured at least this often. */
const minRequests = 40;
/** A client waits this long; an attack that hangs must be ended by the server earlier. */
const defaultPatience = 45_000;

/** Characters of a response that are kept. */
const maxAnswer = 1 << 20;

export async function openStage(
  t: TestContext,
  { attacks, outbound, args = [] }: StageOptions,
): Promise<Stage> {
  const scene = await openScene(t);
  const target = await openTarget(t);
  const data = join(scene.directory, ".store");
  const folder = join(scene.directory, "bad");
  const secret = randomBytes(16).toString("hex");
  const facts: Facts = {
    ...{ data, folder, target: target.port, pid: process.pid },
    ...{ redirector: await openRedirector(t), free: await findFreePort() },
  };
  const outboundText = typeof outbound === "function" ? outbound(facts) : outbound;

  const configs = [
    await writeScript(scene, {
      name: "bad",
      source: hostileScript(attacks, facts),
      config: [
        'isolation = "sandbox"',
        'routes = ["bad.example/*"]',
        'compatibility_flags = ["nodejs_compat"]',
        ...(outboundText === undefined ? [] : [`outbound = ${outboundText}`]),
        "[[kv_namespaces]]",
        'binding = "KV"',
        'id = "bad"',
        "[assets]",
        'directory = "public"',
        'binding = "ASSETS"',
        "run_worker_first = true",
      ].join("\n"),
    }),
    await writeScript(scene, {
      name: "good",
      source: good,
      config:
        'isolation = "sandbox"\n[[store_buckets]]\nbinding = "PRIVATE"\nbucket_name = "private"\n' +
        '[[kv_namespaces]]\nbinding = "KV"\nid = "private"',
    }),
  ];
  await scene.write("bad/public/page.txt", "page");
  await symlink("/etc/passwd", join(folder, "public/link.txt"));
  await mkdir(data, { recursive: true });
  await symlink(data, join(folder, "public/data"));

  const server = await scene.start("serve", {
    configs,
    args,
    environment: { STORE_TEST_SECRET: secret },
  });
  await scene.write("secret.txt", secret);
  await scene.shell.store("object", "put", "private/secret", "secret.txt", "--data", data);
  await scene.shell.store("kv", "put", "private", "secret", secret, "--data", data);

  const host = {
    host: "bad.example",
    "x-console": new URL(server.announced.console.url).port,
  };
  const agent = new Agent({ keepAlive: true });
  t.after(() => agent.destroy());

  async function measure(isOver: () => boolean): Promise<Omit<Measured, "answer">> {
    const times: number[] = [];
    while (times.length < minRequests || !isOver()) {
      const start = performance.now();
      const { status, text } = await ask(server.port, { headers: { host: "good.example" }, agent }).catch(
        (error: unknown) => assert.fail(`${String(error)}; the log ends: ${server.log().slice(-2000)}`),
      );
      times.push(performance.now() - start);
      assert.deepEqual([status, text], [200, "good"], "the neighbour answers");
      // The client shares the processor with the server, so it must not be the load.
      await pause(2);
    }
    times.sort((a, b) => a - b);
    return { p99: times[Math.floor(times.length * 0.99)]!, requests: times.length };
  }

  /** Returns the start of the response, or "no response" and the reason. */
  async function attack(path: string, patience: number): Promise<string> {
    const signal = AbortSignal.timeout(patience);
    let text = "";
    try {
      const options = { host: "127.0.0.1", port: server.port, path, headers: host, agent: false, signal };
      const outgoing = request(options);
      outgoing.end();
      const [incoming] = (await once(outgoing, "response", { signal })) as [IncomingMessage];
      for await (const piece of incoming) if (text.length < maxAnswer) text += String(piece);
      return text;
    } catch (error) {
      return text === "" ? `no response: ${String(error)}` : text;
    }
  }

  return {
    ...{ scene, facts, server },
    hits: target.hits,
    quiet: () => measure(() => true),
    async run(index) {
      const { patience = defaultPatience, damagesItself } = attacks[index]!;
      let isOver = false;
      const attacking = attack(`/attack/${index}`, patience).finally(() => {
        isOver = true;
      });
      const measured = await measure(() => isOver);
      const answer = await attacking;
      assert.ok(isAlive(server.pid), "the server runs");
      assert.equal(target.hits(), 0, "no request reached loopback");
      for (const [what, text] of Object.entries({ secret, passwd: "root:x:0:0" })) {
        assert.ok(!answer.includes(text), `the response contains ${what}`);
      }
      if (damagesItself) return { answer, ...measured };
      await until(async () => (await attack("/", 5000)) === "done", "the hostile script answers again");
      return { answer, ...measured };
    },
  };
}

/** Starts a server on loopback that redirects to the URL of the query, with its status. */
async function openRedirector(t: TestContext): Promise<number> {
  const server = createServer(({ url }, response) => {
    const { searchParams } = new URL(url!, "http://redirector");
    const to = searchParams.get("to");
    if (to === null) response.end("permitted");
    else response.writeHead(Number(searchParams.get("status") ?? 302), { location: to }).end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  return (server.address() as AddressInfo).port;
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** Starts a server on loopback that counts requests. */
async function openTarget(t: TestContext): Promise<{ readonly port: number; hits(): number }> {
  let count = 0;
  const server = createServer((_, response) => {
    count++;
    response.setHeader("x-target", "reached");
    response.end("escaped");
  });
  server.on("connection", () => {
    count++;
  });
  // Dual stack: 127.0.0.1 and ::1.
  server.listen(0, "::");
  await once(server, "listening");
  t.after(() => server.close());
  return { port: (server.address() as AddressInfo).port, hits: () => count };
}
