// Scripts in the service-worker syntax, as classes, and with Node compatibility, run by the real
// server.
import assert from "node:assert/strict";
import { test } from "node:test";
import { openScene, scriptScene } from "../scene.ts";

const listeners = `
  const greeting = GREETING + " " + API_KEY; // bindings are defined at the top level
  visits = 0; // no declaration: the sloppy mode of scripts
  addEventListener("fetch", (event) => {
    if (new URL(event.request.url).pathname === "/silent") return;
    event.respondWith(answer(event));
  });
  self.addEventListener("scheduled", (event) => {
    event.waitUntil(BUCKET.put("run", event.cron));
  });
  async function answer(event) {
    event.waitUntil(BUCKET.put("key", "stored"));
    await BUCKET.put("now", String(++visits));
    const run = await BUCKET.get("run");
    return Response.json({
      greeting, visits, count: COUNT + 1, run: run && await run.text(),
      clients: [typeof WebSocket, typeof EventSource],
    });
  }
`;

test("a script in the service-worker syntax has its bindings as globals", async (t) => {
  const scene = await scriptScene(t, listeners, '[vars]\nGREETING = "hello"\nCOUNT = 41');
  await scene.secret("API_KEY", "s3cr3t");
  const { ask } = await scene.start("dev");
  assert.equal((await ask("/__scheduled?cron=1+2+*+*+*")).text, "Ran scheduled event\n");
  assert.deepEqual(JSON.parse((await ask("/")).text), {
    greeting: "hello s3cr3t",
    visits: 1,
    count: 42,
    run: "1 2 * * *",
    clients: ["function", "function"],
  });
  const { status, text } = await ask("/silent");
  assert.equal(status, 500);
  assert.match(text, /No fetch listener called event\.respondWith\(\)/);
});

test("a binding of a script in the service-worker syntax is refused if it has the name of a global", async (t) => {
  const scene = await scriptScene(t, 'addEventListener("fetch", () => {});', '[vars]\nURL = "hello"');
  const stderr = await scene.shell.fails(1, ["dev", "--create-buckets", "--port", "0", "--s3-port", "0"]);
  assert.match(stderr, /"URL" is a global already: rename the binding/);
});

const entry = `
  import { Buffer } from "buffer";
  import { env, waitUntil, WorkerEntrypoint } from "cloudflare:workers";
  const atTop = [env.GREETING, process.env.GREETING, typeof setTimeout(() => {}, 0)];
  export class Other extends WorkerEntrypoint {}
  export const named = 1;
  export default class extends WorkerEntrypoint {
    async fetch(request) {
      waitUntil(this.env.BUCKET.put("key", "stored"));
      return Response.json({
        atTop, same: env === this.env, encoded: Buffer.from("a").toString("hex"),
        environment: [process.env.API_KEY, process.env.COUNT, process.env.TABLE, process.env.BUCKET],
        path: new URL(request.url).pathname, wait: typeof this.ctx.waitUntil,
      });
    }
    async scheduled(controller) {
      controller.noRetry();
      await this.env.BUCKET.put("run", controller.cron);
    }
  }
`;
const variables = '[vars]\nGREETING = "hello"\nCOUNT = 42\nTABLE = { a = 1 }';

test("with Node compatibility, a script that exports a class has variables and secrets in env and process.env", async (t) => {
  const scene = await scriptScene(t, entry, variables);
  await scene.secret("API_KEY", "s3cr3t");
  const { ask } = await scene.start("serve");
  assert.deepEqual(JSON.parse((await ask("/a")).text), {
    atTop: ["hello", "hello", "object"],
    same: true,
    encoded: "61",
    environment: ["s3cr3t", "42", '{"a":1}', null],
    path: "/a",
    wait: "function",
  });
});

test("without Node compatibility, process.env has no variables or secrets, and setTimeout returns numbers", async (t) => {
  const scene = await scriptScene(t, entry, `compatibility_flags = ["no_nodejs_compat"]\n${variables}`);
  await scene.secret("API_KEY", "s3cr3t");
  const { ask } = await scene.start("dev");
  const { atTop, environment } = JSON.parse((await ask("/")).text) as Record<string, unknown>;
  assert.deepEqual(atTop, ["hello", null, "number"]);
  assert.deepEqual(environment, [null, null, null, null]);
  assert.equal((await ask("/__scheduled?cron=1+2+*+*+*")).text, "Ran scheduled event\n");
});

test("a script with neither handlers nor listeners is refused", async (t) => {
  const scene = await openScene(t);
  await scene.write("src/index.ts", "export const named = 1;");
  await scene.write(
    "store.toml",
    'name = "script"\nmain = "src/index.ts"\ncompatibility_date = "2026-11-01"\n',
  );
  const stderr = await scene.shell.fails(1, ["dev", "--port", "0", "--s3-port", "0"]);
  assert.match(stderr, /must export its handlers by default/);
});
