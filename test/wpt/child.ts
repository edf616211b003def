// Runs one test file in this process: sets up the global scope, loads the checkout's own harness
// and the test's scripts, and writes each result to descriptor 3 as a line of JSON.
import { readFileSync, writeSync } from "node:fs";
import { basename } from "node:path";
import { runInThisContext } from "node:vm";
import { readResource } from "./resource.ts";
import type { TestRun } from "./test-files.ts";

export interface ChildTask {
  readonly checkout: string;
  readonly run: TestRun;
  readonly port: number;
  readonly classes: "script" | "node";
  readonly limitMilliseconds: number;
}

export interface TestResult {
  readonly name: string;
  readonly outcome: "passed" | "failed" | "unfinished";
  readonly message: string;
}

interface HarnessTest {
  readonly name: string;
  readonly status: number;
  readonly message: string | null;
}

interface Harness {
  add_result_callback(callback: (test: HarnessTest) => void): void;
  add_completion_callback(
    callback: (tests: unknown, status: { status: number; message: string }) => void,
  ): void;
  /** Ends the run: tests without a result count as timed out. */
  timeout(): void;
}

const task = JSON.parse(process.argv[2]!) as ChildTask;
const { run, port } = task;
const outcomes = ["passed", "failed", "unfinished", "unfinished", "failed"] as const;

function write(result: TestResult): void {
  writeSync(3, `${JSON.stringify(result)}\n`);
}

function defineScope(): void {
  const location = new URL(`http://127.0.0.1:${port}/${run.scripts.at(-1)}${run.search}`);
  const values = {
    self: globalThis,
    location,
    META_TITLE: run.title,
    GLOBAL: { isWindow: () => false, isWorker: () => true, isShadowRealm: () => false },
    // The global origin of undici, the base of relative URLs.
    [Symbol.for("undici.globalOrigin.1")]: location,
  };
  // The interface tests refuse a global scope of unknown kind.
  if (run.scripts.includes("resources/idlharness.js")) Object.assign(values, { Window: class Window {} });
  for (const key of Reflect.ownKeys(values)) {
    const value = values[key as keyof typeof values];
    Object.defineProperty(globalThis, key, { value, writable: true, configurable: true });
  }
}

function loadScript(path: string): void {
  const code = readResource(task.checkout, path, port)?.body.toString("utf8");
  if (code === undefined) throw new Error(`The checkout has no file ${path}.`);
  runInThisContext(code, { filename: path });
}

function reportUncaught(error: unknown): void {
  write({ name: "(outside of tests)", outcome: "failed", message: String(error) });
}

if (task.classes === "script") {
  const { installGlobals } = await import("../../src/script/globals/install.ts");
  installGlobals({});
}
defineScope();
process.on("uncaughtException", reportUncaught);
// Tests reject promises on purpose and handle them later.
process.on("unhandledRejection", () => {});

runInThisContext(readFileSync(`${task.checkout}/resources/testharness.js`, "utf8"), {
  filename: "testharness.js",
});
const harness = globalThis as unknown as Harness;
let isComplete = false;
harness.add_result_callback(({ name, status, message }) =>
  write({ name, outcome: outcomes[status]!, message: message ?? "" }),
);
harness.add_completion_callback((_tests, { status, message }) => {
  isComplete = true;
  if (status === 1) write({ name: "(harness)", outcome: "failed", message: message ?? "" });
  // A stream or a timer of a test must not keep the process alive.
  setImmediate(() => process.exit(0));
});
try {
  for (const script of run.scripts) loadScript(script);
} catch (error) {
  write({ name: `(loading ${basename(run.name)})`, outcome: "failed", message: String(error) });
}
setTimeout(() => harness.timeout(), task.limitMilliseconds).unref();
process.on("beforeExit", () => {
  if (!isComplete) harness.timeout();
});
