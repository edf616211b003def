// The log of script output: its size limit, its followers, and the errors found in it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createScriptLog } from "../../../src/script/supervisor/script-log.ts";

const bounds = { lines: 5, lineLength: 10, faults: 2, stackLines: 3 };
const texts = async (log: ReturnType<typeof createScriptLog>, after: number) =>
  (await log.after(after, 0)).map(({ text }) => text);

test("the script log keeps only the latest lines, each cut to a maximum length", async () => {
  const log = createScriptLog(() => 1, bounds);
  assert.deepEqual(await texts(log, 0), []);
  for (let i = 1; i <= 23; i++) log.write("a", `line ${i}`, "stdout");
  assert.deepEqual(await texts(log, 0), ["line 19", "line 20", "line 21", "line 22", "line 23"]);
  assert.deepEqual(await texts(log, 21), ["line 22", "line 23"]);
  assert.deepEqual(await texts(log, 23), []);
  assert.equal(
    (await texts(log, 1000)).length,
    5,
    "a follower of an earlier server starts from the beginning",
  );
  log.write("a", "0123456789abc", "stderr");
  assert.deepEqual(await log.after(23, 0), [
    { number: 24, time: 1, script: "a", stream: "stderr", text: "0123456789…" },
  ]);
});

test("a follower of the script log receives new lines immediately and ends when the log closes", async () => {
  const log = createScriptLog(() => 1, bounds);
  const long = 2_000_000;
  const first = log.after(-1, long);
  log.write("a", "first", "stdout");
  assert.deepEqual(
    (await first).map(({ number, text }) => [number, text]),
    [[1, "first"]],
  );
  assert.deepEqual(await log.after(1, 1), [], "the wait times out without new lines");
  const last = log.after(1, long);
  log.close();
  assert.deepEqual(await last, []);
  assert.deepEqual(await log.after(1, long), []);
});

test("the script log recognizes lines with a stack trace as errors and lists them newest first", () => {
  const wide = { ...bounds, lineLength: 100 };
  const log = createScriptLog(() => 1, wide);
  const write = (script: string, ...lines: string[]) => {
    for (const line of lines) log.write(script, line, "stderr");
  };
  write(
    "a",
    "only a word",
    "TypeError: one",
    "    at f (src/index.ts:1:2)",
    "    at g (src/index.ts:3:4)",
    "after",
  );
  write(
    "b",
    "something",
    "Uncaught: Error: two",
    "lines long",
    "    at x",
    "    at y",
    "    at z",
    "    at more",
  );
  assert.deepEqual(log.faults(), [
    { time: 1, script: "b", message: "Uncaught: Error: two\nlines long", stack: ["at x", "at y", "at z"] },
    {
      time: 1,
      script: "a",
      message: "TypeError: one",
      stack: ["at f (src/index.ts:1:2)", "at g (src/index.ts:3:4)"],
    },
  ]);
  write("d", "    at nothing before it of its own");
  assert.equal(log.faults().length, 2);
  write("c", "no name of a fault", "    at w");
  assert.deepEqual(
    log.faults().map(({ message }) => message),
    ["no name of a fault", "Uncaught: Error: two\nlines long"],
  );
});
