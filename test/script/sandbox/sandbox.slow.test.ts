// Sandboxed scripts from end to end: started with the real command, behind the wall.
import assert from "node:assert/strict";
import { test } from "node:test";
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
  assert.equal((await looped)?.status, 503);
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
