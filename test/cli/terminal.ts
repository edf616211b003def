// Runs `store` in a pseudo terminal and answers its prompts.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { program, type Shell } from "./store.ts";

export interface Answer {
  /** Text on the screen to wait for before typing. */
  readonly after: string;
  readonly type: string;
}

export interface TerminalOptions {
  readonly answers?: readonly Answer[];
  readonly columns?: number;
  readonly environment?: Readonly<Record<string, string>>;
}

export interface TerminalOutcome {
  /** The exit code as in a shell: 128 plus the signal number for a process ended by a signal. */
  readonly code: number | null;
  /** All output to the terminal. */
  readonly screen: string;
}

/** The command that provides a pseudo terminal; undefined if none is installed. */
export const terminalProgram: readonly string[] | undefined = findTerminal();

function findTerminal(): readonly string[] | undefined {
  const script = spawnSync("script", ["--version"], { encoding: "utf8" });
  if (script.status === 0 && script.stdout.includes("util-linux")) return ["script", "-qefc"];
  const python =
    "import os,pty,sys;sys.exit(os.waitstatus_to_exitcode(pty.spawn(['sh','-c',sys.argv[1]]))%256)";
  if (spawnSync("python3", ["-c", "import pty"]).status === 0) return ["python3", "-c", python];
  console.error("NOT TESTED: nothing here gives a command a terminal (neither script nor python3).");
  return undefined;
}

export function inTerminal(
  { directory }: Shell,
  args: readonly string[],
  { redirection = "", ...options }: TerminalOptions & { readonly redirection?: string } = {},
): Promise<TerminalOutcome> {
  const called = [process.execPath, program, ...args].map((word) => `'${word}'`).join(" ");
  return lineInTerminal(directory, `exec ${called} ${redirection}`, options);
}

/** Runs a shell command in the folder, in a pseudo terminal. */
export async function lineInTerminal(
  directory: string,
  line: string,
  { answers = [], columns = 100, environment = {} }: TerminalOptions = {},
): Promise<TerminalOutcome> {
  const [command, ...options] = terminalProgram!;
  const tail = command === "script" ? ["/dev/null"] : [];
  const child = spawn(command!, [...options, `stty cols ${columns}; ${line}`, ...tail], {
    cwd: directory,
    env: { PATH: process.env.PATH, HOME: directory, TERM: "xterm", SHELL: "/bin/sh", ...environment },
  });
  const ended = once(child, "close") as Promise<[number | null]>;
  const waiting = [...answers];
  let screen = "";
  let seen = 0;
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    screen += text;
    const [next] = waiting;
    const found = next === undefined ? -1 : screen.indexOf(next.after, seen);
    if (found === -1) return;
    seen = screen.length;
    child.stdin.write(waiting.shift()!.type);
  });
  const [code] = await ended;
  assert.deepEqual(waiting, [], `it asked for everything, but the terminal shows: ${screen}`);
  return { code, screen };
}
