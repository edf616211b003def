// Stack traces of uncaught errors contain frames of the script and no frames of the server.
import assert from "node:assert/strict";
import { test } from "node:test";
import { missingBindingHint } from "../../../src/script/host/platform/missing-binding.ts";
import { trimStack } from "../../../src/script/host/script-error.ts";
import { scriptScene } from "../scene.ts";

const source = `async function read(env, key) {
  return await env.BUCKET.get(key, { range: { offset: 9 } });
}

export default {
  async fetch(request, env, ctx) {
    const { pathname } = new URL(request.url);
    if (pathname === "/sync") return env.MISSING.get("a");
    if (pathname === "/nothing") return undefined;
    if (pathname === "/later") {
      ctx.waitUntil(read(env, "a"));
      return new Response("answered");
    }
    await env.BUCKET.put("a", "short");
    return new Response((await read(env, "a")).body);
  },
};
`;

/** Removes columns, which differ between Node versions. */
const withoutColumn = (line: string) => line.replace(/:\d+\)$/, ")");

test("the logged stack trace of an uncaught error contains only frames of the script", async (t) => {
  const scene = await scriptScene(t, source);
  const { ask, told } = await scene.start("dev");
  const script = `${scene.directory}/src/index.ts`;

  await t.test("the stack of an error thrown by a script contains only frames of the script", async () => {
    const lines = (await ask("/sync")).text.trimEnd().split("\n");
    assert.match(lines[0]!, /^TypeError: Cannot read properties of undefined/);
    assert.deepEqual(lines.slice(1).map(withoutColumn), [
      `    at Object.fetch (${script}:8)`,
      "If this is a binding: env holds BUCKET. Compare the names in the script and in the configuration.",
    ]);
    await told(/^If this is a binding: env holds BUCKET\./m);
  });
  await t.test("the stack of a bucket's error contains the script's call of the bucket", async () => {
    const lines = (await ask("/range")).text.trimEnd().split("\n");
    assert.deepEqual(lines.map(withoutColumn), [
      "StoreError: get: The requested range is not satisfiable (10039)",
      `    at async read (${script}:2)`,
      `    at async Object.fetch (${script}:15)`,
    ]);
  });
  await t.test("the stack of a rejected waitUntil promise contains only frames of the script", async () => {
    assert.equal((await ask("/later")).text, "answered");
    await told(/A promise given to waitUntil failed: StoreError: get: .*\n +at async read \(.*index\.ts:2:/);
  });
  await t.test("a handler that returns no response is reported without a stack trace", async () => {
    assert.equal(
      (await ask("/nothing")).text,
      "TypeError: The script's fetch handler must return a Response, not undefined.\n",
    );
  });
});

test("the error about a missing binding lists the names in env, but never their values", () => {
  const env = { FILES: {}, TOKEN: "secret" };
  const hint = (message: string) => missingBindingHint(new TypeError(message), env);
  assert.match(hint("Cannot read properties of undefined (reading 'put')")!, /env holds FILES, TOKEN\./);
  assert.doesNotMatch(hint("Cannot read properties of undefined (reading 'put')")!, /secret/);
  assert.equal(hint("Cannot read properties of undefined (reading 'length')"), undefined);
  assert.equal(hint("Cannot read properties of null (reading 'put')"), undefined);
  assert.equal(missingBindingHint("text", env), undefined);
});

test("stack traces without script frames, and thrown values that are not errors, stay unchanged", () => {
  const error = new Error("a");
  error.stack = "Error: a\n    at emit (node:events:1:2)";
  trimStack(error);
  assert.equal(error.stack, "Error: a\n    at emit (node:events:1:2)");
  trimStack("text");
  trimStack(Object.freeze(new Error("frozen")));
});

test("stack traces of error causes are trimmed too, even if the causes form a cycle", () => {
  const outer = new Error("outer");
  const inner = new Error("inner", { cause: outer });
  outer.cause = inner;
  inner.stack = "Error: inner\n    at f (/project/src/index.ts:1:2)\n    at emit (node:events:1:2)";
  trimStack(outer);
  assert.equal(inner.stack, "Error: inner\n    at f (/project/src/index.ts:1:2)");
});
