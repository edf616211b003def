// Runs command lines in this process: much faster than a process for each of them.
import assert from "node:assert/strict";
import { Writable } from "node:stream";
import { runCommandLine } from "../../src/cli/run.ts";
import type { Outcome } from "./store.ts";

export interface InProcessOptions {
  readonly directory: string;
  readonly environment?: Readonly<Record<string, string>>;
}

export async function runInProcess(
  args: readonly string[],
  { directory, environment = {} }: InProcessOptions,
): Promise<Outcome> {
  const [stdout, stderr] = [collector(), collector()];
  const code = await runCommandLine({
    ...{ args, directory, program: "store" },
    environment: { PATH: process.env.PATH, HOME: directory, ...environment },
    stdout: stdout.stream,
    stderr: stderr.stream,
  });
  return { code, stdout: stdout.text(), stderr: stderr.text() };
}

/** Runs a command line, which must succeed; returns its stdout. */
export function storeInProcess(directory: string, ...args: string[]): Promise<string> {
  return createRunner({ directory }).store(...args);
}

export interface CommandRunner {
  run(...args: string[]): Promise<Outcome>;
  /** Runs a command that must succeed; returns its stdout. */
  store(...args: string[]): Promise<string>;
  /** Runs a command that must fail; returns the exit code and stderr as `code: text`. */
  fails(...args: string[]): Promise<string>;
}

export function createRunner(options: InProcessOptions): CommandRunner {
  const run = (...args: string[]) => runInProcess(args, options);
  return {
    run,
    async store(...args) {
      const { code, stdout, stderr } = await run(...args);
      assert.equal(code, 0, `store ${args.join(" ")}: ${stderr}`);
      return stdout;
    },
    async fails(...args) {
      const { code, stdout, stderr } = await run(...args);
      assert.notEqual(code, 0, `store ${args.join(" ")} did not fail: ${stdout}${stderr}`);
      return `${code}: ${stderr}`;
    },
  };
}

function collector(): { readonly stream: Writable; text(): string } {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk);
      done();
    },
  });
  return { stream, text: () => Buffer.concat(chunks).toString() };
}
