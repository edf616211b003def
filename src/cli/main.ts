#!/usr/bin/env node
// The `store` command: runs the command line of this process and sets the exit code.
import { runCommandLine } from "./run.ts";

const { stdout, stderr, argv, env: environment } = process;

// A failed write rejects its promise. Without a listener, the error event would end the process.
for (const stream of [stdout, stderr]) stream.on("error", () => {});

const ending = await runCommandLine({
  ...{ stdout, stderr, environment },
  args: argv.slice(2),
  directory: process.cwd(),
  program: argv[1] ?? "",
});
if (typeof ending === "number") process.exitCode = ending;
else process.kill(process.pid, ending);
