// The processes of sandboxes and their bridge are killed in the middle of requests. They are
// replaced, other ports answer meanwhile, and nothing is left open.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { test } from "node:test";
import { ask } from "../../script/client.ts";
import { commandOf, descendantsOf, until } from "../../script/inside.ts";
import { skip } from "../../script/sandbox/requirements.ts";
import { openBystanders } from "../floods/bystanders.ts";
import { openTarget } from "../target.ts";

const rounds = 5;
const requestsOfARound = 50;
/** Databases and logs that the server opens while it works. */
const maxNewDescriptors = 16;

const source = `
export default {
  async fetch(request, env) {
    const { pathname } = new URL(request.url);
    if (pathname === "/good") return new Response("good");
    if (pathname === "/bridge") {
      await env.BUCKET.head("small");
      return new Response("asked");
    }
    if (pathname === "/sleep") await new Promise((resolve) => setTimeout(resolve, 1e8));
    const object = await env.BUCKET.get("large");
    return new Response(object.body);
  },
};`;

test("processes of sandboxes that are killed in the middle of requests are replaced", { skip }, async (t) => {
  const target = await openTarget(t, source, ["--isolation", "sandbox"]);
  const { call, ports, server } = target;
  const body = Buffer.alloc(20 << 20, "large");
  assert.equal((await call({ method: "PUT", path: "/bucket/large", body })).status, 200);
  const bystanders = await openBystanders(t, target, ["script"]);
  const find = (program: string) =>
    descendantsOf(server.pid).filter((pid) => commandOf(pid).split("\0")[0]!.includes(program));
  const bridges = () => descendantsOf(server.pid).filter((pid) => commandOf(pid).includes("sandbox/bridge"));
  const descriptors = () => readdirSync(`/proc/${server.pid}/fd`).length;
  const serves = async (path: string) =>
    (await ask(ports.script, { path }).catch(() => ({ status: 0 }))).status === 200;
  await until(() => serves("/bridge"), "the script is asked");
  const before = descriptors();
  for (const [what, victims] of Object.entries({ sandboxes: () => find("/bin/workerd"), bridge: bridges })) {
    await t.test(`${what} killed with kill -9`, async (t) => {
      await bystanders.during(what, async () => {
        for (let round = 0; round < rounds; round++) {
          const sockets: Socket[] = [];
          for (let i = 0; i < requestsOfARound; i++) {
            const socket = connect(ports.script, "127.0.0.1").on("error", () => {});
            // Half of them read nothing of a large body, the others wait for the head.
            socket.pause().write(`GET /${i % 2 ? "large" : "sleep"} HTTP/1.1\r\nHost: x\r\n\r\n`);
            sockets.push(socket);
          }
          await target.assertServes("s3", "console", "public");
          const killed = victims();
          assert.ok(killed.length > 0);
          for (const pid of killed) process.kill(pid, "SIGKILL");
          await until(() => victims().every((pid) => !killed.includes(pid)), "they have ended");
          await until(() => serves("/bridge"), `the script serves after round ${round}`);
          for (const socket of sockets) socket.destroy();
        }
      });
      t.diagnostic(`${rounds} rounds; ${descriptors()} descriptors, ${before} before`);
      await until(() => descriptors() <= before + maxNewDescriptors, "its descriptors are closed");
    });
  }
  await target.assertServes();
});
