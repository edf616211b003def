// Service bindings of sandboxed scripts: requests to other scripts, calls of methods, entry points.
import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../inside.ts";
import { openScene, writeScript } from "../scene.ts";
import { openWebSocket } from "../web-socket.ts";
import { skip } from "./requirements.ts";

const caller = `
import { WorkerEntrypoint } from "cloudflare:workers";

export class Own extends WorkerEntrypoint {
  greet(name) { return "own " + name + " " + JSON.stringify(this.ctx.props); }
}

const actions = {
  own: (env) => env.OWN.greet("x"),
  fetch: async (env) => (await env.B.fetch("https://b.example/path?q", { method: "POST", body: "sent" })).text(),
  add: (env) => env.B.add(1, 2),
  stream: async (env) => (await new Response(await env.B.stream()).text()).length,
  counter: async (env) => {
    using counter = await env.B.counter(5);
    await counter.increment();
    return counter.increment();
  },
  callback: (env) => env.B.callback((n) => n * 2),
  admin: (env) => env.ADMIN.secret(),
  adminFetch: async (env) => (await env.ADMIN.fetch("http://x/")).text(),
  unknown: (env) => env.B.nothing(),
  thrown: (env) => env.B.fail(),
  gone: (env) => env.GONE.fetch("http://x/"),
  own_process: async (env) => (await env.PLAIN.fetch("http://plain/")).text(),
  plain: (env) => env.PLAIN.method(),
};

export default {
  async fetch(request, env) {
    const { pathname } = new URL(request.url);
    if (pathname === "/socket") return env.B.fetch(request);
    try {
      return Response.json(await actions[pathname.slice(1)](env));
    } catch (error) {
      return new Response(String(error));
    }
  },
};`;

const callee = (version: string) => `
import { RpcTarget, WorkerEntrypoint } from "cloudflare:workers";

class Counter extends RpcTarget {
  #value;
  constructor(value) { super(); this.#value = value; }
  increment() { return ++this.#value; }
}

export class Admin extends WorkerEntrypoint {
  secret() { return this.env.WORD + JSON.stringify(this.ctx.props); }
  fetch() { return new Response("admin " + JSON.stringify(this.ctx.props)); }
}

export default class extends WorkerEntrypoint {
  async fetch(request) {
    if (request.headers.get("upgrade") === "websocket") {
      const { 0: client, 1: server } = new WebSocketPair();
      server.accept();
      server.addEventListener("message", ({ data }) => server.send("b " + data));
      return new Response(null, { status: 101, webSocket: client });
    }
    await this.env.BUCKET.put("key", "value");
    return new Response("${version} " + request.method + " " + request.url + " " + (await request.text()));
  }
  add(a, b) { return "${version} " + (a + b); }
  counter(value) { return new Counter(value); }
  async callback(double) { return await double(21); }
  stream() {
    const { readable, writable } = new FixedLengthStream(1_000_000);
    const writer = writable.getWriter();
    writer.write(new Uint8Array(1_000_000)).then(() => writer.close());
    return readable;
  }
  fail() { throw new RangeError("from b"); }
}`;

const services = `isolation = "sandbox"
[[services]]
binding = "OWN"
service = "a"
entrypoint = "Own"
props = { plan = "free" }
[[services]]
binding = "B"
service = "b"
[[services]]
binding = "ADMIN"
service = "b"
entrypoint = "Admin"
props = { from = "a" }
[[services]]
binding = "GONE"
service = "gone"
[[services]]
binding = "PLAIN"
service = "plain"`;

test("sandboxed scripts call each other and their own entry points", { skip }, async (t) => {
  const scene = await openScene(t);
  const plain = `export default { fetch: (request) => new Response("plain " + request.url) };`;
  const configs = [
    await writeScript(scene, { name: "a", source: caller, config: services }),
    await writeScript(scene, {
      ...{ name: "b", source: callee("one") },
      config: 'isolation = "sandbox"\nroutes = ["b.example/*"]\n[vars]\nWORD = "word "',
    }),
    await writeScript(scene, { name: "plain", source: plain, config: 'routes = ["plain.example/*"]' }),
  ];
  const server = await scene.start("dev", { configs });
  const ask = async (action: string) => (await server.ask(`/${action}`)).text;
  assert.equal(await ask("own"), JSON.stringify('own x {"plan":"free"}'));
  assert.equal(await ask("fetch"), JSON.stringify("one POST https://b.example/path?q sent"));
  assert.equal(await ask("add"), JSON.stringify("one 3"));
  assert.equal(await ask("stream"), "1000000");
  assert.equal(await ask("counter"), "7");
  assert.equal(await ask("callback"), "42");
  assert.equal(await ask("admin"), JSON.stringify('word {"from":"a"}'));
  assert.equal(await ask("adminFetch"), JSON.stringify('admin {"from":"a"}'));
  assert.match(await ask("unknown"), /does not implement the method "nothing"/);
  assert.match(await ask("thrown"), /RangeError: from b/);
  assert.match(
    await ask("gone"),
    /env\.GONE is a service binding to "gone", but this server does not run the script "gone"/,
  );
  await server.told(/Script "a": env\.GONE is a service binding to "gone"/);
  assert.equal(await ask("own_process"), JSON.stringify("plain http://plain/"));
  assert.match(await ask("plain"), /Error/);

  const socket = openWebSocket(t, `ws://127.0.0.1:${server.port}/socket`);
  assert.equal((await socket.next()).kind, "open");
  socket.send({ text: "hello" });
  assert.deepEqual(await socket.next(), { kind: "text", data: "b hello" });

  // The callee is replaced: the next call reaches its new version.
  await scene.write("b/src/index.ts", callee("two"));
  await server.told(/Script "b" changed: reloaded/);
  await until(async () => (await ask("add")) === JSON.stringify("two 3"), "the new version is called");
  assert.equal((await server.stop()).code, 0);
});

test("an error in a sandboxed script is logged with the lines of its source", { skip }, async (t) => {
  const scene = await openScene(t);
  await scene.write(
    "lib/thrower.ts",
    "// A comment.\ninterface Gone { a: string }\nexport function fail(): never {\n  throw new Error('mapped');\n}\n",
  );
  await writeScript(scene, {
    source: `import { fail } from "../lib/thrower.ts";
type Unused = number;
export default {
  async fetch(): Promise<Response> {
    try { fail(); } catch (error) { console.error(error.stack); }
    fail();
  },
};`,
    config: 'isolation = "sandbox"',
  });
  const server = await scene.start("dev");
  assert.equal((await server.ask("/")).status, 500);
  const logged = new RegExp(
    `Error: mapped\\n +at fail \\(${scene.directory}/lib/thrower\\.ts:4:9\\)\\n +at .*${scene.directory}/src/index\\.ts:5:11`,
  );
  const [first] = await server.told(logged);
  // Once by the script itself, and once as an uncaught error.
  await server.told(/lib\/thrower\.ts:4:9\)\n.*src\/index\.ts:6:5/, server.log().indexOf(first) + 1);
});
