// The environment of a script: env with buckets, variables and secrets, imports, and the request.
import assert from "node:assert/strict";
import { test } from "node:test";
import { openScene, scriptScene, writeScript } from "../scene.ts";

const config = `
[[store_buckets]]
binding = "SECOND"
bucket_name = "second"
[vars]
TEXT = "text with \\"quotes\\" and ünïcödé"
YES = true
NO = false
COUNT = 42
RATIO = 0.5
EMPTY = ""
LIST = [1, "two", { three = 3 }]
[vars.TABLE]
deep = { deeper = [true] }
`;

test("env has the buckets, variables with their types, and secrets of the script", async (t) => {
  const source = `
    export default {
      async fetch(request, env) {
        const { BUCKET, SECOND, ...rest } = env;
        await BUCKET.put("key", "one");
        await SECOND.put("key", "two");
        const stored = [await (await BUCKET.get("key")).text(), await (await SECOND.get("key")).text()];
        return Response.json({ stored, rest });
      },
    };`;
  const scene = await scriptScene(t, source, config);
  await scene.secret("API_KEY", "s3cr3t\nof two lines");
  const { ask, log } = await scene.start("serve");
  const { text } = await ask("/");
  assert.deepEqual(JSON.parse(text), {
    stored: ["one", "two"],
    rest: {
      TEXT: 'text with "quotes" and ünïcödé',
      YES: true,
      NO: false,
      COUNT: 42,
      RATIO: 0.5,
      EMPTY: "",
      LIST: [1, "two", { three: 3 }],
      TABLE: { deep: { deeper: [true] } },
      API_KEY: "s3cr3t\nof two lines",
    },
  });
  assert.doesNotMatch(log(), /s3cr3t/, "the value of a secret is never logged");
});

test("a copy of env has working buckets, and changes to env are visible to later requests", async (t) => {
  const source = `
    export default {
      async fetch(request, env) {
        const copy = { ...env, EXTRA: "mine" };
        await copy.BUCKET.put("key", copy.EXTRA);
        const wrapped = Object.assign(Object.create(env), { BUCKET: copy.BUCKET });
        env.visits = (env.visits ?? 0) + 1;
        env.GREETING = "changed";
        return Response.json({
          stored: await (await wrapped.BUCKET.get("key")).text(),
          names: Object.keys(copy).sort(),
          visits: env.visits,
          greeting: env.GREETING,
        });
      },
    };`;
  const scene = await scriptScene(t, source, '[vars]\nGREETING = "hello"');
  const { ask } = await scene.start("dev");
  await ask("/");
  const { stored, names, visits, greeting } = JSON.parse((await ask("/")).text) as Record<string, unknown>;
  assert.deepEqual([stored, visits, greeting], ["mine", 2, "changed"]);
  assert.deepEqual(names, ["BUCKET", "EXTRA", "GREETING", "visits"]);
});

test("a script imports TypeScript, npm packages, node: modules, text, HTML and WebAssembly", async (t) => {
  const scene = await openScene(t);
  const add = "0061736d0100000001070160027f7f017f030201000707010361646400000a09010700200020016a0b";
  await scene.write("src/add.wasm", Buffer.from(add, "hex"));
  await scene.write("src/note.txt", "a note\n");
  await scene.write("src/page.html", "<p>a page</p>");
  await scene.write(
    "src/lib/shapes.ts",
    `export interface Shape { readonly sides: number }
     enum Kind { Square = 4 }
     export const square = { sides: Kind.Square } satisfies Shape;`,
  );
  await scene.write(
    "node_modules/greeter/package.json",
    '{"name":"greeter","type":"module","exports":"./main.js"}',
  );
  await scene.write("node_modules/greeter/main.js", 'export const greet = (name) => "Hello, " + name + "!";');
  await scene.write("node_modules/older/package.json", '{"name":"older","main":"index.js"}');
  await scene.write(
    "node_modules/older/index.js",
    'const path = require("path"); module.exports = path.basename;',
  );
  const source = `
    import { createHash } from "node:crypto";
    import { basename } from "path";
    import { greet } from "greeter";
    import older from "older";
    import type { StoreBucket } from "store-server";
    import { type Shape, square } from "./lib/shapes.ts";
    import module from "./add.wasm";
    import note from "./note.txt";
    import page from "./page.html";

    interface Env { readonly BUCKET: StoreBucket }

    export default {
      async fetch(request: Request, env: Env): Promise<Response> {
        const shape: Shape = square;
        const { add } = new WebAssembly.Instance(module).exports as { add(a: number, b: number): number };
        return Response.json({
          hash: createHash("md5").update("x").digest("hex"),
          base: basename("/a/b"), older: older("/c/d"),
          greeting: greet("npm"), sides: shape.sides, note, page,
          isModule: module instanceof WebAssembly.Module, sum: add(40, 2),
        });
      },
    };`;
  await writeScript(scene, { source });
  const { ask } = await scene.start("serve");
  assert.deepEqual(JSON.parse((await ask("/")).text), {
    hash: "9dd4e461268c8034f5c8564e155c67a6",
    base: "b",
    older: "d",
    greeting: "Hello, npm!",
    sides: 4,
    note: "a note\n",
    page: "<p>a page</p>",
    isModule: true,
    sum: 42,
  });
});

test("a script receives the request as it was sent, and has the globals of the platform", async (t) => {
  const source = `
    export default {
      async fetch(request, env, ctx) {
        ctx.passThroughOnException();
        return Response.json({
          isRequest: request instanceof Request,
          url: request.url, method: request.method, cf: request.cf,
          header: request.headers.get("X-Given"), body: await request.text(),
          globals: [
            typeof FixedLengthStream, typeof IdentityTransformStream, typeof HTMLRewriter,
            typeof crypto.DigestStream, typeof crypto.subtle.timingSafeEqual,
            typeof caches.default.match, typeof caches.open, navigator.userAgent,
          ],
        });
      },
    };`;
  const scene = await scriptScene(t, source);
  const { ask, port } = await scene.start("dev");
  const path = "/a%2Fb/c%20d?q=1&q=%E2%82%AC";
  const { text } = await ask({ method: "POST", path, headers: { "X-Given": "ünï" }, body: "the body" });
  const { globals, ...rest } = JSON.parse(text) as { globals: string[] };
  assert.deepEqual(rest, {
    isRequest: true,
    url: `http://127.0.0.1:${port}${path}`,
    method: "POST",
    cf: {},
    header: "ünï",
    body: "the body",
  });
  assert.deepEqual(globals, [...Array<string>(7).fill("function"), "Store"]);
});
