// Sandboxed scripts from end to end: started with the real command, behind the wall.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { descendantsOf, until } from "../inside.ts";
import { openScene, scriptScene, writeScript } from "../scene.ts";
import { skip } from "./requirements.ts";

const everything = `
interface Env {
  BUCKET: any; KV: any; ASSETS: any; WORDS: string; LIST: number[]; SECRET: string; LATER: any;
}
export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname === "/object") {
      if (request.method === "PUT") {
        const { etag } = await env.BUCKET.put("key", request.body, { customMetadata: { a: "b" } });
        return new Response(etag);
      }
      const object = await env.BUCKET.get("key");
      return new Response(object.body, { headers: { "x-meta": object.customMetadata.a } });
    }
    if (pathname === "/list") {
      await env.BUCKET.put("folder/key", "");
      return Response.json((await env.BUCKET.list({ delimiter: "/" })).delimitedPrefixes);
    }
    if (pathname === "/kv") {
      await env.KV.put("k", "value");
      return new Response(await env.KV.get("k"));
    }
    if (pathname === "/asset") return env.ASSETS.fetch("http://assets/page.html");
    if (pathname === "/env") {
      return Response.json([env.WORDS, env.LIST, env.SECRET, request.url, navigator.userAgent]);
    }
    if (pathname === "/scheduled") return new Response(await env.KV.get("cron"));
    if (pathname === "/notified") return new Response((await env.KV.get("event")) ?? "");
    if (pathname === "/throw") throw new Error("thrown by the script");
    if (pathname === "/log") console.log("logged by the script");
    return new Response("fallback");
  },
  async scheduled(controller: any, env: Env) {
    await env.KV.put("cron", controller.cron);
  },
  async notification(event: any, env: Env) {
    await env.KV.put("event", event.key);
  },
};
`;

const config = `isolation = "sandbox"
[[kv_namespaces]]
binding = "KV"
id = "words"
[assets]
directory = "public"
binding = "ASSETS"
[vars]
WORDS = 'quote " backslash \\ é 😀'
LIST = [1, 2]`;

test("a sandboxed script uses its bucket, namespace, assets, variables and secrets", { skip }, async (t) => {
  const scene = await scriptScene(t, everything, config);
  await scene.write("public/page.html", "<p>page</p>");
  await scene.secret("SECRET", 'se"cret\\');
  const server = await scene.start("dev");
  const put = await server.ask({ path: "/object", method: "PUT", body: "some bytes" });
  assert.equal(put.status, 200, put.text);
  const got = await server.ask("/object");
  assert.equal(got.text, "some bytes");
  assert.equal(got.headers["x-meta"], "b");
  // Without the delimiter: the list has the form that the configuration chooses, as in a process.
  assert.deepEqual(JSON.parse((await server.ask("/list")).text), ["folder"]);
  assert.equal((await server.ask("/kv")).text, "value");
  assert.equal((await server.ask("/asset")).text, "<p>page</p>");
  assert.equal((await server.ask("/page")).text, "<p>page</p>");
  const env = JSON.parse((await server.ask("/env")).text) as unknown[];
  assert.deepEqual(env.slice(0, 3), ['quote " backslash \\ é 😀', [1, 2], 'se"cret\\']);
  assert.equal(env[3], `http://127.0.0.1:${server.port}/env`);
  assert.equal((await server.ask("/__scheduled?cron=*+*+*+*+*")).status, 200);
  assert.equal((await server.ask("/scheduled")).text, "* * * * *");
  assert.equal((await server.ask("/throw")).status, 500);
  await server.told(/thrown by the script/);
  await server.ask("/log");
  await server.told(/^logged by the script$/m);
});

test("a sandboxed script in an endless loop is replaced, and its neighbour keeps serving", {
  skip,
}, async (t) => {
  const scene = await openScene(t);
  const loop = `export default { fetch(request) {
    if (request.url.endsWith("/loop")) for (;;);
    return new Response("alive");
  } };`;
  const first = await writeScript(scene, {
    name: "looping",
    source: loop,
    config: 'isolation = "sandbox"\nroutes = ["looping.test/*"]',
  });
  const second = await writeScript(scene, {
    name: "calm",
    source: loop,
    config: 'isolation = "sandbox"\nroutes = ["calm.test/*"]',
  });
  const server = await scene.start("serve", { configs: [first, second] });
  const ask = (host: string, path: string) => server.ask({ path, headers: { host } });
  assert.equal((await ask("looping.test", "/")).text, "alive");
  const looped = ask("looping.test", "/loop").catch(() => undefined);
  for (let i = 0; i < 20; i++) assert.equal((await ask("calm.test", "/")).text, "alive");
  await server.told(/Script "looping" has blocked its event loop: another process takes over/);
  assert.equal((await ask("looping.test", "/")).text, "alive");
  await server.told(/Script "looping" did not recover/);
  // The client of the endless request gets an error, or gave up before.
  assert.ok([503, undefined].includes((await looped)?.status));
});

test("a sandboxed script that uses too much memory is ended and started again", { skip }, async (t) => {
  const source = `const kept = [];
  export default { async fetch(request) {
    if (request.url.endsWith("/grow")) for (;;) { kept.push(new Uint8Array(1e6).fill(1)); await new Promise((r) => setTimeout(r, 1)); }
    return new Response("alive");
  } };`;
  const scene = await scriptScene(t, source, 'isolation = "sandbox"');
  const server = await scene.start("dev");
  const grown = server.ask("/grow").catch(() => undefined);
  await server.told(/Script "script" ended \(.*\): starting it again/);
  await grown;
  assert.equal((await server.ask("/")).text, "alive");
});

test("a changed file and a changed secret reload a sandboxed script", { skip }, async (t) => {
  const source = (text: string) =>
    `export default { fetch: (_, env) => new Response(${JSON.stringify(text)} + (env.SECRET ?? "")) };`;
  const scene = await scriptScene(t, source("one"), 'isolation = "sandbox"');
  const server = await scene.start("dev");
  assert.equal((await server.ask("/")).text, "one");
  await scene.write("src/index.ts", source("two"));
  await server.told(/changed: reloaded/);
  assert.equal((await server.ask("/")).text, "two");
  await scene.secret("SECRET", "!");
  await server.told(/has new secrets: reloaded/);
  assert.equal((await server.ask("/")).text, "two!");
});

test("a script that cannot be loaded is refused with its error", { skip }, async (t) => {
  const scene = await scriptScene(
    t,
    'throw new Error("at the top"); export default {};',
    'isolation = "sandbox"',
  );
  const started = scene.start("dev");
  await assert.rejects(started, /at the top/);
});

const faults = `
import { env as imported } from "cloudflare:workers";
export default {
  async fetch(request, env) {
    const { pathname } = new URL(request.url);
    const text = async (work) => { try { return String(await work()); } catch (error) { return String(error); } };
    if (pathname === "/database") return new Response(await text(() => env.DATABASE.prepare("x")));
    if (pathname === "/outbound") {
      return new Response(await text(async () => (await fetch("http://api.example.com/")).text()));
    }
    if (pathname === "/same") return new Response(String(imported.WORD === env.WORD));
    return new Response(env.WORD);
  },
  async notification(event, env) {
    await env.OUT.put("event", event.type + event.key + (event.time instanceof Date));
  },
};`;

test("a wrangler project runs in a sandbox by option, and errors name what was not given", {
  skip,
}, async (t) => {
  const scene = await openScene(t);
  await scene.write("src/index.js", faults);
  const config = {
    name: "project",
    main: "src/index.js",
    compatibility_date: "2026-11-01",
    vars: { WORD: "word" },
    r2_buckets: [{ binding: "BUCKET", bucket_name: "bucket" }],
    kv_namespaces: [{ binding: "OUT", id: "out" }],
    d1_databases: [{ binding: "DATABASE", database_name: "d", database_id: "d" }],
  };
  await scene.write("wrangler.json", JSON.stringify(config));
  const server = await scene.start("serve", { configs: ["wrangler.json"], args: ["--isolation", "sandbox"] });
  assert.match(
    (await server.ask("/database")).text,
    /env\.DATABASE is a D1 database, which Store does not have/,
  );
  assert.match((await server.ask("/outbound")).text, /api\.example\.com/);
  await server.told(/api\.example\.com/);
  assert.equal((await server.ask("/same")).text, "true");
  const data = ["--data", `${scene.directory}/.store`];
  const added = await scene.shell.run(["bucket", "notify", "add", "bucket", "--script", "project", ...data]);
  assert.equal(added.code, 0, added.stderr);
  await scene.write("object", "bytes");
  const put = await scene.shell.run(["object", "put", "bucket/key", "object", ...data]);
  assert.equal(put.code, 0, put.stderr);
  await until(async () => {
    const { stdout } = await scene.shell.run(["kv", "get", "out", "event", ...data]);
    return stdout.startsWith("notificationkeytrue");
  }, "the notification is handled");
});

test("the runtime of a script that is killed is started again, with all of its rights", {
  skip,
}, async (t) => {
  const source = `export default { async fetch(_, env) {
    await env.BUCKET.put("key", "value");
    return new Response(await (await env.BUCKET.get("key")).text());
  } };`;
  const scene = await scriptScene(t, source, 'isolation = "sandbox"');
  const server = await scene.start("dev");
  assert.equal((await server.ask("/")).text, "value");
  const names = (pid: number) => readFileSync(`/proc/${pid}/cmdline`, "utf8");
  const pids = descendantsOf(server.pid).filter((pid) => names(pid).includes("workerd"));
  process.kill(pids.at(-1)!, "SIGKILL");
  await server.told(/Script "script" ended \(.*\): starting it again/);
  assert.equal((await server.ask("/")).text, "value");
  const bridge = descendantsOf(server.pid).find((pid) => names(pid).includes("bridge.js"));
  process.kill(bridge!, "SIGKILL");
  await server.told(/The bridge of sandboxes ended/);
  await until(async () => (await server.ask("/")).text === "value", "the new bridge serves the bucket");
  const { code } = await server.stop();
  assert.equal(code, 0);
});
