// Errors in scripts: a 500 and a log line with the source position, or, before the server starts, a
// message and exit code 1.
import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../inside.ts";
import { configText, openScene, type Scene, scriptScene, writeScript } from "../scene.ts";

const faulty = `import { fail } from "./fail.ts";

interface Env {
  readonly UNUSED: string;
}

export default {
  async fetch(request: Request, env: Env, ctx: { waitUntil(p: Promise<unknown>): void }): Promise<unknown> {
    switch (new URL(request.url).pathname) {
      case "/throw":
        return fail("thrown");
      case "/text":
        return "no response";
      case "/nothing":
        return undefined;
      case "/string":
        throw "a string";
      case "/later":
        setTimeout(() => fail("later"));
        return new Response("answered");
      case "/rejection":
        void Promise.reject(new Error("rejected"));
        return new Response("answered");
      case "/wait":
        ctx.waitUntil(Promise.reject(new Error("waited for")));
        return new Response("answered");
      case "/body":
        return new Response(
          new ReadableStream({
            start: (controller) => controller.enqueue(new TextEncoder().encode("begun")),
            pull: () => new Promise((_, reject) => setTimeout(() => reject(new Error("broke off")), 20)),
          }),
        );
      case "/chunks":
        return new Response(new ReadableStream({ start: (controller) => controller.enqueue("text") }));
      default:
        return new Response(String(process.pid));
    }
  },
};
`;

const failing = `// Line 1

export function fail(message: string): never {
  throw new TypeError(message);
}
`;

for (const mode of ["dev", "serve"] as const) {
  test(`store ${mode}: an error in a script is answered with 500 and logged, and later requests are served`, async (t) => {
    const scene = await scriptScene(t, faulty);
    await scene.write("src/fail.ts", failing);
    const { ask, told } = await scene.start(mode);
    const where = `${scene.directory}/src/fail.ts:4:9`;
    const shown = (text: string) => (mode === "dev" ? text : "Internal Server Error");

    await t.test("a thrown error is logged with its position in the source", async () => {
      const { status, text } = await ask("/throw");
      assert.equal(status, 500);
      assert.ok(text.includes(shown("TypeError: thrown")), text);
      assert.equal(text.includes(where), mode === "dev", text);
      await told(/TypeError: thrown\n(.*\n)*? +at fail \(.*src\/fail\.ts:4:9\)\n +at .*src\/index\.ts:11:16/);
    });
    for (const [path, words] of [
      ["/text", "must return a Response, not string"],
      ["/nothing", "must return a Response, not undefined"],
      ["/string", "a string"],
    ] as const) {
      await t.test(`the error "${words}" of a fetch handler is answered with 500 and logged`, async () => {
        const { status, text } = await ask(path);
        assert.equal(status, 500);
        assert.ok(text.includes(shown(words)), text);
        await told(new RegExp(words));
      });
    }
    await t.test("an uncaught error outside of a request does not end the script's process", async () => {
      const pid = (await ask("/")).text;
      for (const [path, words] of [
        ["/later", /TypeError: later\n(.*\n)*? +at fail \(.*src\/fail\.ts:4:9\)/],
        ["/rejection", /Error: rejected/],
        ["/wait", /waitUntil failed: Error: waited for/],
      ] as const) {
        assert.equal((await ask(path)).text, "answered");
        await told(words);
      }
      // The kernel chooses which process accepts a connection, so poll until the same process
      // answers.
      await until(async () => (await ask("/")).text === pid, "the process answers again");
    });
    await t.test("a failing response body is logged, and the response is aborted", async () => {
      await assert.rejects(ask("/body"), /aborted|socket hang up/);
      await told(/Error: broke off/);
      const begun = await Promise.allSettled([ask("/chunks")]);
      assert.ok(begun[0].status === "rejected" || begun[0].value.status === 503);
      await told(/TypeError: The stream of a Response must give bytes, not string/);
    });
  });
}

/** Starts a server that must fail to start; returns its stderr. */
async function refused(scene: Scene, mode: string): Promise<string> {
  const args = [mode, "--port", "0", "--s3-port", "0", "--console-port", "0", "--create-buckets", "--json"];
  const { code, stdout, stderr } = await scene.shell.run(args, { environment: { TMPDIR: scene.directory } });
  assert.deepEqual([code, stdout], [1, ""], stderr);
  assert.doesNotMatch(stderr, /host\/worker|node:internal|STORE_DEBUG/, "no frames of the server are shown");
  return stderr;
}

const starts: readonly (readonly [what: string, source: string, says: RegExp])[] = [
  [
    "a syntax error is shown with file, line and column",
    "export default {\n  fetch() {\n    const = 1;\n  },\n};\n",
    /^error: src\/index\.ts:3:11: Expected identifier but found "="\n {2}3 \| {5}const = 1;\n {4}\| {11}\^\n$/m,
  ],
  [
    "an import that cannot be resolved is named",
    'import { x } from "not-installed";\nexport default { fetch: () => new Response(x) };\n',
    /^error: src\/index\.ts:1:19: Could not resolve "not-installed"\n.*\n.* \^{15}\n {2}Is it installed\? npm install not-installed\n$/m,
  ],
  [
    "a script without a default export is refused with an example",
    "export const fetch = () => new Response();\n",
    /script "script" must export its handlers by default: export default \{ fetch\(\) \{\} \}/,
  ],
  [
    "an error at the top level of a script is shown with its position",
    '\nthrow new RangeError("at the top");\nexport default {};\n',
    /RangeError: at the top\n +at .*src\/index\.ts:2:7/,
  ],
  [
    "a script that exits while it loads is reported with its exit code",
    "process.exit(3);\nexport default {};\n",
    /ended before it was ready: exit code 3/,
  ],
];

for (const [what, source, says] of starts) {
  test(`before the server starts, ${what}, with exit code 1`, async (t) => {
    assert.match(await refused(await scriptScene(t, source), "serve"), says);
  });
}

test("starting a script that never finishes loading is aborted after a deadline", async (t) => {
  const scene = await scriptScene(t, "await new Promise(() => {});\nexport default {};\n");
  assert.match(await refused(scene, "dev"), /Script "script" did not finish loading in time/);
});

test("store serve reports a missing bucket and a port in use, each with a solution", async (t) => {
  const scene = await openScene(t);
  await writeScript(scene, { source: "export default { fetch: () => new Response() };" });
  const missing = await scene.shell.fails(1, [
    "serve",
    "--port",
    "0",
    "--s3-port",
    "0",
    "--console-port",
    "0",
  ]);
  assert.match(missing, /store\.toml:\d+:\d+: There is no bucket "bucket".*store bucket create bucket/s);
  const { port } = await scene.start("dev");
  const taken = await scene.shell.fails(1, [
    "serve",
    "--port",
    String(port),
    "--s3-port",
    "0",
    "--console-port",
    "0",
  ]);
  assert.match(taken, new RegExp(`^error: Cannot listen on port ${port} .*already in use\\.\\n.*--port`));
});

test("a variable with the name of a secret is refused at its position in the configuration", async (t) => {
  const scene = await scriptScene(t, "export default { fetch: () => new Response() };");
  await scene.secret("GREETING", "hush");
  await scene.write("store.toml", configText("script", '[vars]\nGREETING = "hello"'));
  const args = ["serve", "--port", "0", "--s3-port", "0", "--console-port", "0", "--create-buckets"];
  assert.match(
    await scene.shell.fails(1, args),
    /store\.toml:8:1: The script already has a secret named "GREETING"/,
  );
});
