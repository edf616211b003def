// Runs the build command of a wrangler file before `store dev` starts its script.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readBuildCommand } from "../../script/config/build-command.ts";
import type { Invocation } from "../framework/command.ts";
import { CommandError } from "../framework/command-error.ts";
import { displayPath } from "../store/open-store.ts";

/** Runs the build command of each configuration file once, at startup. */
export async function runBuilds(invocation: Invocation, files: readonly string[]): Promise<void> {
  const { output, options, environment } = invocation;
  for (const file of files) {
    const build = readBuildCommand(file, options.text("env"));
    if (build === undefined) continue;
    output.note(`Running the build command of ${displayPath(invocation, file)}: ${build.command}`);
    const child = spawn(build.command, {
      ...{ cwd: build.directory, shell: true, env: { ...environment } },
      // Build output goes to stderr, because it is not a result of this command.
      stdio: ["ignore", 2, 2],
    });
    const outcome = await Promise.race([
      once(child, "close").then(([code, signal]: unknown[]) => code ?? signal),
      once(child, "error").then(([error]: unknown[]) => error),
    ]);
    if (outcome === 0) continue;
    const why = outcome instanceof Error ? outcome.message : `it exited with ${String(outcome)}`;
    throw new CommandError(`The build command failed: ${why}.`, {
      hint: [`Command: ${build.command}`, `Folder: ${build.directory}`],
    });
  }
}
