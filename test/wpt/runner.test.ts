// Tests the web-platform-tests runner on a small checkout with a harness of three functions.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { compareFile } from "./compare.ts";
import { differencesFor } from "./differences.ts";
import { runsOf } from "./test-files.ts";

const main = fileURLToPath(new URL("./main.js", import.meta.url));
const checkout = mkdtempSync(join(tmpdir(), "store-wpt-"));
after(() => rmSync(checkout, { recursive: true }));

function run(...args: string[]) {
  return spawnSync(process.execPath, [main, ...args], { encoding: "utf8" });
}

const harness = `
const callbacks = [], completions = [], pending = [];
globalThis.add_result_callback = (callback) => callbacks.push(callback);
globalThis.add_completion_callback = (callback) => completions.push(callback);
globalThis.promise_test = (body, name) => pending.push((async () => {
  const message = await body().then(() => null, (error) => String(error));
  for (const callback of callbacks) callback({ name, status: message === null ? 0 : 1, message });
})());
globalThis.timeout = () => {};
Promise.resolve().then(() => Promise.all(pending)).then(() => completions.forEach((callback) => callback([], { status: 0 })));
`;

const files: Readonly<Record<string, string>> = {
  "resources/testharness.js": harness,
  "common/shared.sub.js": "globalThis.port = '{{ports[http][0]}}';",
  "fetch/api/headers/own.any.js": [
    "// META: script=/common/shared.sub.js",
    'promise_test(async () => new Headers({ a: "1" }).get("a"), "passes on both");',
    'promise_test(async () => new Headers().getAll("set-cookie"), "passes only on ours");',
    'promise_test(async () => { throw new Error("no"); }, "fails on both");',
    'promise_test(async () => { if (location.port !== port) throw new Error(port); }, "has the port");',
  ].join("\n"),
  "fetch/api/headers/needs.any.js":
    'promise_test(async () => { if ((await fetch("/a.py")).status !== 200) throw new Error(); }, "asks");',
  "url/static.any.js":
    'promise_test(async () => { if ((await (await fetch("a.json")).json()).a !== 1) throw new Error(); }, "reads");',
  "url/a.json": '{"a":1}',
};
for (const [name, text] of Object.entries(files)) {
  mkdirSync(dirname(join(checkout, name)), { recursive: true });
  writeFileSync(join(checkout, name), text);
}

test("without a checkout of web-platform-tests, test:wpt prints how to get one and exits with code 2", () => {
  for (const args of [[], ["--wpt", join(checkout, "common")], ["--unknown"]]) {
    const { status, stderr } = run(...args);
    assert.equal(status, 2);
    assert.match(stderr, /git clone --depth 1 \S+wpt/);
  }
  assert.equal(run("--wpt", checkout, "--only", "nothing").status, 2);
});

test("every web-platform test runs on Store's and on Node's classes, and both results are counted", () => {
  const { status, stdout } = run("--wpt", checkout, "--json");
  assert.equal(status, 0);
  const { tests, totals } = JSON.parse(stdout) as {
    tests: { name: string; verdict: string }[];
    totals: { folder: string; script: object; notRunnable: number }[];
  };
  assert.deepEqual(Object.fromEntries(tests.map(({ name, verdict }) => [name, verdict])), {
    "passes on both": "passes on both",
    "passes only on ours": "passes only here",
    "fails on both": "fails on both",
    "has the port": "passes on both",
    asks: "needs a handler",
    reads: "passes on both",
  });
  const all = totals.find(({ folder }) => folder === "all")!;
  assert.deepEqual([all.script, all.notRunnable], [{ passed: 4, failed: 1 }, 1]);
});

test("the web-platform-tests report lists folders, and --only limits the run to some of them", () => {
  const { stdout } = run("--wpt", checkout, "--only", "url");
  assert.match(stdout, /^url +1 +0 +1 +0 +0$/m);
  assert.doesNotMatch(stdout, /fetch\/api/);
});

test("a web-platform test that fails only on Store's classes is unexpected unless differences.ts lists it", () => {
  const file = "fetch/api/request/request-init-stream.any.js";
  const listed = "It is error to omit .duplex when the body is a ReadableStream.";
  const results = (outcome: "passed" | "failed") => ({
    requestedHandlers: [],
    results: [listed, "another"].map((name) => ({ name, outcome, message: "because" })),
  });
  const compared = compareFile(file, results("failed"), results("passed"), differencesFor(24));
  assert.deepEqual(
    compared.map(({ verdict }) => verdict),
    ["deliberate", "unexpected"],
  );
});

test("a web-platform test file runs once per variant, each time after its required scripts", () => {
  const text = "// META: script=../a.js\n// META: variant=?x\n// META: variant=?y\n// META: timeout=long\n";
  const runs = runsOf("url/b/c.any.js", text);
  assert.deepEqual(
    runs.map(({ name, search, length }) => [name, search, length]),
    [
      ["url/b/c.any.js?x", "?x", "long"],
      ["url/b/c.any.js?y", "?y", "long"],
    ],
  );
  assert.deepEqual(runs[0]!.scripts, ["url/a.js", "url/b/c.any.js"]);
});
