// The script of the overload proof: stores and serves objects, and misbehaves on request in every
// way a script can.

export const nuisances = ["loop", "allocate", "log", "exit", "ipc"] as const;
export type Nuisance = (typeof nuisances)[number];

export const script = `
import { writeSync } from "node:fs";
const hoard = [];
export default {
  async fetch(request, env) {
    const { pathname } = new URL(request.url);
    switch (pathname) {
      case "/good":
        return new Response("good");
      case "/nuisance/loop":
        for (;;) {}
      case "/nuisance/allocate":
        for (;;) {
          hoard.push(Array.from({ length: 50_000 }, (_, i) => ({ i })));
          await new Promise(setImmediate);
        }
      case "/nuisance/log": {
        const megabyte = "x".repeat(1024 * 1024);
        for (let i = 0; i < 50; i++) {
          process.stdout.write(megabyte);
          await new Promise(setImmediate);
        }
        return new Response("logged");
      }
      case "/nuisance/exit":
        process.exit(1);
      case "/nuisance/ipc":
        for (const message of [null, 1, "x", {}, { kind: "request lines" }, { kind: "metrics" }]) {
          try { process.send?.(message); } catch {}
        }
        for (let i = 0; i < 20_000; i++) try { process.send?.({ kind: "beat", i }); } catch {}
        for (const descriptor of [3, 4]) try { writeSync(descriptor, "garbage\\nnull\\n"); } catch {}
        return new Response("sent");
    }
    if (request.method === "PUT") {
      await env.BUCKET.put(pathname.slice(1), await request.arrayBuffer());
      return new Response("stored");
    }
    const object = await env.BUCKET.get(pathname.slice(1));
    return object === null ? new Response("none", { status: 404 }) : new Response(object.body);
  },
};`;
