// Runs commands of `store` inside the test's process, which is much faster than a process for each.
import { Writable } from "node:stream";
import { findCommand } from "../../src/cli/catalog.ts";
import { readArguments, readCommandLine } from "../../src/cli/framework/arguments.ts";
import { isGroup } from "../../src/cli/framework/command.ts";
import { describeFailure } from "../../src/cli/framework/failures.ts";
import { createOutput } from "../../src/cli/framework/output.ts";
import { withoutPasswords } from "../../src/model/location.ts";

export interface CommandOutcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CommandRunner {
  run(...args: string[]): Promise<CommandOutcome>;
  /** Runs a command that must succeed; returns its stdout. */
  store(...args: string[]): Promise<string>;
  /** Runs a command that must fail; returns the exit code and stderr as `code: text`. */
  fails(...args: string[]): Promise<string>;
}

export interface RunnerOptions {
  readonly directory: string;
  readonly environment?: Readonly<Record<string, string>>;
}

export function createRunner({ directory, environment = {} }: RunnerOptions): CommandRunner {
  async function run(...args: string[]): Promise<CommandOutcome> {
    const [stdout, stderr] = [collect(), collect()];
    const line = readCommandLine(args);
    const streams = { stdout: stdout.stream, stderr: stderr.stream, environment };
    let code: number;
    try {
      const { entry, path } = await findCommand(line.words);
      if (isGroup(entry)) throw new Error(`${path} is a group.`);
      const { parameters, options } = readArguments(path, entry, line.withoutWords(path.split(" ").length));
      const output = createOutput({ ...streams, json: options.flag("json") });
      code = (await entry.run({ command: path, parameters, options, output, environment, directory })) ?? 0;
    } catch (error) {
      const failure = describeFailure(error, createOutput({ ...streams, json: false }).noteStyle);
      stderr.stream.write(`${withoutPasswords(failure.text)}\n`);
      code = failure.exitCode;
    }
    return { code, stdout: stdout.text(), stderr: stderr.text() };
  }
  return {
    run,
    async store(...args) {
      const { code, stdout, stderr } = await run(...args);
      if (code !== 0) throw new Error(`store ${args.join(" ")} ended with ${code}: ${stderr}`);
      return stdout;
    },
    async fails(...args) {
      const { code, stdout, stderr } = await run(...args);
      if (code === 0) throw new Error(`store ${args.join(" ")} did not fail: ${stdout}${stderr}`);
      return `${code}: ${stderr}`;
    },
  };
}

function collect(): { readonly stream: Writable; text(): string } {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _, done) {
      chunks.push(chunk);
      done();
    },
  });
  return { stream, text: () => Buffer.concat(chunks).toString() };
}
