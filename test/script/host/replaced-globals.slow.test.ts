// A script replaces globals, as polyfills and test libraries do. The process that runs it works on.
import assert from "node:assert/strict";
import { test } from "node:test";
import { readPrometheus } from "../../metrics/prometheus-text.ts";
import { scriptScene } from "../scene.ts";
import type { Server } from "../server.ts";

/** Takes what it needs, then replaces all globals that are not part of JavaScript itself. */
const source = `
import { runInNewContext } from "node:vm";
const { Response, ReadableStream, URL } = globalThis;
const language = new Set(runInNewContext("Object.getOwnPropertyNames(globalThis)"));
language.delete("console");
const unusable = () => { throw new Error("The script replaced this global."); };
const traps = Object.fromEntries(Object.getOwnPropertyNames(Reflect).map((trap) => [trap, unusable]));
const replaced = [];
for (const name of Object.getOwnPropertyNames(globalThis)) {
  if (language.has(name) || name.startsWith("$")) continue;
  const { configurable, writable } = Object.getOwnPropertyDescriptor(globalThis, name);
  if (!configurable) continue;
  Object.defineProperty(globalThis, name, { value: new Proxy(unusable, traps), configurable: true });
  replaced.push(name);
}

export default {
  async fetch(request, env, context) {
    const { pathname } = new URL(request.url);
    if (pathname === "/replaced") return Response.json(replaced);
    if (pathname === "/fault") throw new Error("on purpose");
    if (request.method === "PUT") {
      const { size } = await env.BUCKET.put("key", request.body, { httpMetadata: request.headers });
      await env.KV.put("name", "value", { expirationTtl: 600 });
      return new Response(String(size));
    }
    const { body, httpMetadata } = await env.BUCKET.get("key", { range: { offset: 1 }, onlyIf: request.headers });
    const text = await new Response(body).text();
    const page = await env.BUCKET.list({ limit: 1, include: ["httpMetadata"] });
    const upload = await env.BUCKET.createMultipartUpload("large");
    await upload.complete([await upload.uploadPart(1, new Uint8Array(100_000))]);
    const large = await (await env.BUCKET.get("large")).arrayBuffer();
    await env.BUCKET.delete("large");
    context.waitUntil(env.BUCKET.head("key"));
    return Response.json({ text, httpMetadata, keys: page.objects.map(({ key }) => key),
      large: large.byteLength, value: await env.KV.get("name") });
  },
};`;

const config = `
[[kv_namespaces]]
binding = "KV"
id = "names"
`;

async function scriptProcesses({ announced }: Server): Promise<number> {
  const response = await fetch(`${announced.console.url}/metrics`);
  assert.equal(response.status, 200);
  const samples = readPrometheus(await response.text());
  return samples.get('store_processes{process="script"}') ?? 0;
}

test("a script that replaces every global of Node is served, measured and drained", async (t) => {
  const scene = await scriptScene(t, source, config);
  const server = await scene.start("serve", { args: ["--metrics-open"] });
  const { text: names } = await server.ask("/replaced");
  for (const name of ["process", "Buffer", "setTimeout", "performance", "console", "Response", "fetch"]) {
    assert.ok((JSON.parse(names) as string[]).includes(name), name);
  }
  const put = {
    method: "PUT",
    path: "/",
    headers: { "content-type": "text/plain" },
    body: "x".repeat(300_000),
  };
  assert.deepEqual((await server.ask(put)).text, "300000");
  const { status, text } = await server.ask("/");
  assert.equal(status, 200, `${text}\n${server.log()}`);
  assert.deepEqual(JSON.parse(text), {
    text: "x".repeat(299_999),
    httpMetadata: { contentType: "text/plain" },
    keys: ["key"],
    large: 100_000,
    value: "value",
  });
  assert.equal((await server.ask("/fault")).status, 500);
  assert.ok((await scriptProcesses(server)) > 0, server.log());
  assert.equal((await server.stop()).code, 0);
  assert.doesNotMatch(server.log(), /ended|starting it again|replaced this global/);
});
