// Runs one command line: finds the command, runs it, prints errors and returns the exit code.
import { inspect } from "node:util";
import { withoutPasswords } from "../model/names/location.ts";
import { catalog, findCommand } from "./catalog.ts";
import { readArguments, readCommandLine } from "./framework/arguments.ts";
import { isGroup } from "./framework/command.ts";
import { usageError } from "./framework/command-error.ts";
import { describeFailure, systemCode } from "./framework/failures.ts";
import { Interrupted } from "./framework/interrupt.ts";
import { createOutput, type Output, type OutputOptions } from "./framework/output.ts";
import { packageVersion } from "./framework/package-root.ts";
import { typedCommands } from "./framework/typed-command.ts";
import { helpText } from "./help.ts";

export interface RunOptions extends Pick<OutputOptions, "stdout" | "stderr" | "environment"> {
  readonly args: readonly string[];
  /** The working directory. */
  readonly directory: string;
  /** The path by which this process was started. */
  readonly program: string;
}

/** The exit code that a shell reports for a process ended by SIGPIPE. */
const brokenPipeExitCode = 141;

/** Returns the exit code, or the signal that must end the process. */
export async function runCommandLine(options: RunOptions): Promise<number | NodeJS.Signals> {
  const { stdout, stderr, environment, program } = options;
  const typed = typedCommands(
    program,
    catalog.map(({ name }) => name),
  );
  try {
    return await run(options, typed);
  } catch (error) {
    // End by the signal itself, so that a calling shell script stops too.
    if (error instanceof Interrupted) return error.signal;
    if (systemCode(error) === "EPIPE") return brokenPipeExitCode;
    const { text, exitCode } = describeFailure(
      error,
      createOutput({ stdout, stderr, environment, json: false }).noteStyle,
    );
    // Any message may contain the URL of a cluster, including its password.
    stderr.write(`${typed(withoutPasswords(text))}\n`);
    if (environment.STORE_DEBUG === "1") stderr.write(`${withoutPasswords(inspect(error))}\n`);
    return exitCode;
  }
}

const lonelyOptions = ["--help", "-h", "--version", "-v", "--json"];

async function run(options: RunOptions, typed: (text: string) => string): Promise<number> {
  const { args, directory, program: _, ...streams } = options;
  const line = readCommandLine(args);
  const print = (json: boolean) => createOutput({ ...streams, json, typed });
  if (line.words.length === 0) {
    const stray = args.find((arg) => !lonelyOptions.includes(arg));
    if (stray !== undefined)
      throw usageError(`"${stray}" needs a command.`, "List all commands: store --help");
    if (line.wantsVersion) {
      if (args.includes("--json")) await print(true).json({ version: packageVersion() });
      else await print(false).line(packageVersion());
    } else await print(false).line(typed(await helpText(undefined, print(false).style)));
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
  const parsed = readArguments(path, entry, line.withoutWords(path.split(" ").length));
  const output: Output = print(parsed.options.flag("json"));
  const { environment } = options;
  return (await entry.run({ command: path, ...parsed, output, environment, directory })) ?? 0;
}
