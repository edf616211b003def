// Runs shell commands of the documentation, whose output is shown as comments under them. All
// commands run in one shell, so that they can use variables of earlier commands.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { outcomeOf } from "../../cli/store.ts";

export interface Step {
  readonly command: string;
  /** Expected output; `…` matches any text. */
  readonly prints: string;
}

/** Parses commands. Lines with `#` show output of the command above; a final `\` joins lines. */
export function stepsOf(text: string): Step[] {
  const steps: { command: string; prints: string[] }[] = [];
  let isOpen = false;
  for (const line of text.split("\n")) {
    const last = steps.at(-1);
    if (isOpen) last!.command += `\n${line}`;
    else if (line.startsWith("#")) last!.prints.push(line.replace(/^# ?/, ""));
    else if (line !== "") steps.push({ command: line, prints: [] });
    isOpen = line.endsWith("\\");
  }
  return steps.map(({ command, prints }) => ({ command, prints: prints.join("\n") }));
}

export interface ShellOptions {
  readonly directory: string;
  /** Folders to prepend to PATH. */
  readonly programs?: string | undefined;
}

/** Printed between the outputs of two commands. */
const separator = "\x1e";

/** Matches progress lines of curl on stderr. */
const progress = /^ *(% Total|Dload|[\d.]+k? +[\d.]+k? )/;

/** Runs the commands one after another and asserts that each prints exactly its expected output. */
export async function play(steps: readonly Step[], { directory, programs }: ShellOptions): Promise<void> {
  const script = steps.map(({ command }) => `${command}\nprintf '\\036'\n`).join("");
  const path = programs === undefined ? process.env.PATH : `${programs}:${process.env.PATH}`;
  const shell = spawn("sh", ["-c", script], { cwd: directory, env: { PATH: path, HOME: directory } });
  shell.stdin.end();
  const { stdout, stderr } = await outcomeOf(shell);
  const printed = stdout.replaceAll("\r", "").split(separator);
  for (const [i, { command, prints }] of steps.entries()) {
    const actual = (printed[i] ?? "").trimEnd();
    if (patternOf(prints).test(actual)) continue;
    const told = stderr.split(/[\r\n]+/).filter((line) => !progress.test(line));
    assert.equal(actual, prints, [command, ...told].join("\n"));
  }
}

function patternOf(shown: string): RegExp {
  const pieces = shown.split("…").map((piece) => piece.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${pieces.join("[^]*?")}$`);
}
