#!/usr/bin/env node
// The `store` command: finds the command, runs it, prints errors and sets the exit code.
import { inspect } from "node:util";
import { withoutPasswords } from "../model/location.ts";
import { catalog, findCommand } from "./catalog.ts";
import { readArguments, readCommandLine } from "./framework/arguments.ts";
import { isGroup } from "./framework/command.ts";
import { usageError } from "./framework/command-error.ts";
import { describeFailure, systemCode } from "./framework/failures.ts";
import { Interrupted } from "./framework/interrupt.ts";
import { createOutput, type Output } from "./framework/output.ts";
import { packageVersion } from "./framework/package-root.ts";
import { typedCommands } from "./framework/typed-command.ts";
import { helpText } from "./help.ts";

const { stdout, stderr } = process;
const environment = process.env;
const typed = typedCommands(
  process.argv[1] ?? "",
  catalog.map(({ name }) => name),
);

// A failed write rejects its promise. Without a listener, the error event would end the process.
for (const stream of [stdout, stderr]) stream.on("error", () => {});

async function run(args: readonly string[]): Promise<number> {
  const line = readCommandLine(args);
  const print = (json: boolean) => createOutput({ stdout, stderr, environment, json, typed });
  if (line.words.length === 0) {
    const [stray] = args.filter((arg) => arg !== "--help" && arg !== "-h" && arg !== "--version");
    if (stray !== undefined)
      throw usageError(`"${stray}" needs a command.`, "List all commands: store --help");
    await print(false).line(
      line.wantsVersion ? packageVersion() : typed(await helpText(undefined, print(false).style)),
    );
    return 0;
  }
  const { entry, path } = await findCommand(line.words);
  if (line.wantsHelp) {
    await print(false).line(typed(await helpText({ entry, path }, print(false).style)));
    return 0;
  }
  if (isGroup(entry)) {
    const names = entry.commands.map(({ name }) => name).join(", ");
    throw usageError(`store ${path} needs a subcommand: ${names}.`, `Details: store ${path} --help`);
  }
  const { parameters, options } = readArguments(path, entry, line.withoutWords(path.split(" ").length));
  const output: Output = print(options.flag("json"));
  const invocation = { command: path, parameters, options, output, environment, directory: process.cwd() };
  return (await entry.run(invocation)) ?? 0;
}

/** The exit code that a shell reports for a process ended by SIGPIPE. */
const brokenPipeExitCode = 141;

try {
  process.exitCode = await run(process.argv.slice(2));
} catch (error) {
  if (error instanceof Interrupted) {
    // End by the signal itself, so that a calling shell script stops too.
    process.kill(process.pid, error.signal);
  } else if (systemCode(error) === "EPIPE") {
    process.exitCode = brokenPipeExitCode;
  } else {
    const { text, exitCode } = describeFailure(
      error,
      createOutput({ stdout, stderr, environment, json: false }).noteStyle,
    );
    // Any message may contain the URL of a cluster, including its password.
    stderr.write(`${typed(withoutPasswords(text))}\n`);
    if (environment.STORE_DEBUG === "1") stderr.write(`${withoutPasswords(inspect(error))}\n`);
    process.exitCode = exitCode;
  }
}
