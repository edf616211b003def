import assert from "node:assert/strict";
import { test } from "node:test";
import { createRuntimeOutput } from "../../../../src/script/sandbox/runtime/runtime-output.ts";

const entry = (fields: object) => JSON.stringify({ timestamp: 1, ...fields });

function record() {
  const lines: string[] = [];
  return { lines, output: createRuntimeOutput((line, stream) => lines.push(`${stream} ${line}`)) };
}

test("console output keeps its lines, and errors and warnings go to stderr", () => {
  const { lines, output } = record();
  output.startServing();
  output.write(entry({ level: "log", message: "a\nb" }), "stdout");
  output.write(entry({ level: "error", message: "c" }), "stdout");
  output.write("not JSON", "stdout");
  assert.deepEqual(lines, ["stdout a", "stdout b", "stderr c", "stderr not JSON"]);
});

test("an uncaught error is written once, with its stack trace", () => {
  const { lines, output } = record();
  output.startServing();
  const source = "io/worker.c++:1";
  const stack = "Error: boom\n    at Object.fetch (script.js:1:1)";
  output.write(
    entry({
      level: "info",
      source,
      message: `uncaught exception; source = Uncaught (in promise); stack = ${stack}`,
    }),
    "stdout",
  );
  output.write(
    entry({ level: "info", source, message: "uncaught exception; exception = x.h:1: failed: Error" }),
    "stdout",
  );
  output.write(
    entry({ level: "error", source, message: "Uncaught exception: x.h:1: failed: Error: boom" }),
    "stdout",
  );
  assert.deepEqual(lines, ["stderr Error: boom", "stderr     at Object.fetch (script.js:1:1)"]);
});

test("errors before the start are collected for the message of the failed load", () => {
  const { lines, output } = record();
  const message = "service main: Uncaught Error: at the top\n  at script.js:1:7";
  output.write(entry({ level: "error", source: "entry.rs:1", message }), "stderr");
  output.write(entry({ level: "log", message: "top level" }), "stdout");
  assert.equal(output.errors(), "Error: at the top\n  at script.js:1:7");
  assert.deepEqual(lines, ["stdout top level"]);
});
