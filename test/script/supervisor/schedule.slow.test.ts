// Scheduled handlers, which `store dev` can run immediately. cron.test.ts tests the schedule.
import assert from "node:assert/strict";
import { test } from "node:test";
import { scriptScene } from "../scene.ts";

const source = `
export default {
  async fetch(request, env) {
    return new Response((await (await env.BUCKET.get("run"))?.text()) ?? "never");
  },
  async scheduled(event, env) {
    if (event.cron === "bad") throw new Error("the scheduled handler failed");
    if (event.cron === "slow") await new Promise((resolve) => setTimeout(resolve, 300));
    const { type, cron, scheduledTime } = event;
    await env.BUCKET.put("run", JSON.stringify({ type, cron, scheduledTime }));
  },
};`;

test("/__scheduled runs the scheduled handler immediately, with the given or the first cron expression", async (t) => {
  const scene = await scriptScene(t, source, '[triggers]\ncrons = ["*/5 * * * *", "0 0 1 1 *"]');
  const { ask, told } = await scene.start("dev");
  assert.equal((await ask("/")).text, "never");
  const before = Date.now();
  for (const [path, cron] of [
    ["/__scheduled", "*/5 * * * *"],
    ["/__scheduled?cron=0+0+1+1+*", "0 0 1 1 *"],
  ] as const) {
    const { status, text } = await ask(path);
    assert.deepEqual([status, text], [200, "Ran scheduled event\n"]);
    const run = JSON.parse((await ask("/")).text) as { type: string; cron: string; scheduledTime: number };
    assert.deepEqual([run.type, run.cron], ["scheduled", cron]);
    assert.ok(run.scheduledTime >= before && run.scheduledTime <= Date.now());
  }

  const failed = await ask("/__scheduled?cron=bad");
  assert.deepEqual([failed.status, failed.text], [500, "the scheduled handler failed\n"]);
  await told(/Error: the scheduled handler failed\n +at .*src\/index\.ts:7:/);
  assert.equal((await ask("/__scheduled-not")).text, (await ask("/")).text, "other paths reach the script");
});

test("the server waits for a scheduled run in flight before it exits", async (t) => {
  const scene = await scriptScene(t, source, '[triggers]\ncrons = ["0 0 1 1 *"]');
  const server = await scene.start("dev");
  const run = server.ask("/__scheduled?cron=slow");
  await server.ask("/");
  const { code } = await server.stop();
  assert.equal(code, 0);
  assert.equal((await run).status, 200);
  const again = await scene.start("serve");
  assert.match((await again.ask("/")).text, /"cron":"slow"/);
  assert.equal(
    (await again.ask("/__scheduled")).text,
    (await again.ask("/")).text,
    "store serve does not have this path",
  );
});

test("a scheduled run of a script without a scheduled handler fails with a clear error", async (t) => {
  const scene = await scriptScene(t, "export default { fetch: () => new Response() };");
  const { ask } = await scene.start("dev");
  const { status, text } = await ask("/__scheduled");
  assert.deepEqual([status, text], [500, "The script's default export has no scheduled handler.\n"]);
});
