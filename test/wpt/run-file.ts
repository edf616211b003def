// Runs one test file in its own process, with a timeout.
import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import type { ChildTask, TestResult } from "./child.ts";
import { startFileServer } from "./server.ts";
import type { TestRun } from "./test-files.ts";

export interface FileResults {
  readonly results: readonly TestResult[];
  readonly requestedHandlers: readonly string[];
}

export interface RunnerOptions {
  readonly checkout: string;
  readonly node: string;
  readonly classes: "script" | "node";
}

/** Timeouts of a file in milliseconds; a process that blocks is killed some time later. */
const limits = { normal: 30_000, long: 90_000 } as const;
const killGraceMilliseconds = 30_000;

const program = fileURLToPath(new URL("./child.js", import.meta.url));

export async function runFile(run: TestRun, options: RunnerOptions): Promise<FileResults> {
  const { checkout, classes, node } = options;
  const server = await startFileServer(checkout);
  const limitMilliseconds = limits[run.length];
  const task: ChildTask = { checkout, run, port: server.port, classes, limitMilliseconds };
  const child = spawn(node, ["--expose-gc", "--no-warnings", program, JSON.stringify(task)], {
    stdio: ["ignore", "ignore", "pipe", "pipe"],
  });
  const timer = setTimeout(() => child.kill("SIGKILL"), limitMilliseconds + killGraceMilliseconds);
  const output = text(child.stdio[3] as Readable);
  const errors = text(child.stderr!);
  const [code, signal] = (await once(child, "exit")) as [number | null, string | null];
  clearTimeout(timer);
  server.close();
  const results = distinct(
    // Some tests are named after URLs, and the port differs in each run.
    (await output)
      .replaceAll(`:${server.port}`, ":PORT")
      .split("\n")
      .filter((line) => line !== "")
      .map(parseResult),
  );
  if (code !== 0) {
    const message = `The process ended with ${signal ?? code}: ${(await errors).trim().slice(-500)}`;
    results.push({ name: "(process)", outcome: "failed", message });
  }
  return { results, requestedHandlers: [...server.requestedHandlers] };
}

function parseResult(line: string): TestResult {
  const { name, outcome, message } = JSON.parse(line) as TestResult;
  return { name: String(name), outcome, message: String(message) };
}

/** Numbers tests with the same name, so that two runs can be compared test by test. */
function distinct(results: readonly TestResult[]): TestResult[] {
  const counts = new Map<string, number>();
  return results.map((result) => {
    const count = (counts.get(result.name) ?? 0) + 1;
    counts.set(result.name, count);
    return count === 1 ? result : { ...result, name: `${result.name} #${count}` };
  });
}
