// A server with few descriptors: scripts that hold all connections they get leave some to the others.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { test } from "node:test";
import { limitedShell } from "../../cli/limited-shell.ts";
import { ask } from "../../script/client.ts";
import { childrenOf, commandOf, until } from "../../script/inside.ts";
import { skip } from "../../script/sandbox/requirements.ts";
import { openScene, writeScript } from "../../script/scene.ts";
import { type Server, startServer } from "../../script/server.ts";

const descriptors = 1024;
const bindings = 4;
const greedyScripts = ["greedy", "greedier"];

/** Holds as many connections of its bindings as it gets, and says how many. */
const greedy = `
const held = [];
export default {
  async fetch(request, env) {
    if (request.method === "DELETE") {
      await Promise.all(held.splice(0).map((object) => object.body.cancel()));
      return new Response("released");
    }
    const buckets = Object.values(env).filter((binding) => typeof binding.createMultipartUpload === "function");
    const gets = buckets.flatMap((bucket) => Array.from({ length: 200 }, () => bucket.get("large")));
    for (const { status, value } of await Promise.allSettled(gets)) if (status === "fulfilled") held.push(value);
    return new Response(String(held.length));
  },
};`;

const good = `
export default {
  async fetch(request, env) {
    await env.BUCKET.put("small", "small");
    return new Response(await (await env.BUCKET.get("small")).text());
  },
};`;

test("scripts that hold all their connections leave descriptors to the other scripts", {
  skip,
}, async (t) => {
  const scene = await openScene(t);
  const configs = [await writeScript(scene, { name: "good", source: good, config: 'isolation = "sandbox"' })];
  for (const name of greedyScripts) {
    const further = Array.from(
      { length: bindings - 1 },
      (_, index) => `[[store_buckets]]\nbinding = "B${index}"\nbucket_name = "bucket"`,
    );
    const config = ['isolation = "sandbox"', `routes = ["${name}.example/*"]`, ...further].join("\n");
    configs.push(await writeScript(scene, { name, source: greedy, config }));
  }
  const servers: Server[] = [];
  t.after(() => Promise.all(servers.map((server) => server.end())));
  const server = await startServer(limitedShell(scene.directory, descriptors), "serve", { configs }, servers);
  const file = await scene.write("large", Buffer.alloc(4 << 20, "large"));
  await scene.shell.store("object", "put", "bucket/large", file, "--data", `${scene.directory}/.store`);
  const bridge = childrenOf(server.pid).find((pid) => commandOf(pid).includes("sandbox/bridge"))!;
  const open = () => readdirSync(`/proc/${bridge}/fd`).length;
  const askGreedy = (name: string, method = "GET") =>
    ask(server.port, { method, headers: { host: `${name}.example` } });
  const before = open();
  let most = 0;
  for (let round = 0; round < 3; round++) {
    for (const name of greedyScripts) {
      const { status, text } = await askGreedy(name).catch(() => ({ status: 0, text: "" }));
      most = Math.max(most, open());
      t.diagnostic(`${name}: ${status}, holds ${text}; the bridge has ${open()} descriptors`);
      const answers = await Promise.all(Array.from({ length: 20 }, () => ask(server.port, {})));
      const wrong = answers
        .filter(({ text }) => text !== "small")
        .map(({ status, text }) => `${status} ${text}`);
      assert.deepEqual(wrong, [], `the good script answers; the log ends ${server.log().slice(-1000)}`);
    }
  }
  assert.ok(most < descriptors - 64, `the bridge keeps descriptors free, and had ${most}`);
  for (const name of [...greedyScripts, ...greedyScripts, ...greedyScripts]) await askGreedy(name, "DELETE");
  await until(() => open() <= before + 32, "its descriptors are closed");
});
