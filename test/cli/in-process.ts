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
export async function storeInProcess(directory: string, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runInProcess(args, { directory });
  assert.equal(code, 0, `store ${args.join(" ")}: ${stderr}`);
  return stdout;
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
