// Shell lines as documentation shows them: a command, and under it, as comments, what it prints. They are run
// as they stand, in one shell, so that a variable set by one is there for the next.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { outcomeOf } from "../cli/store.ts";

export interface Step {
  readonly command: string;
  /** `…` stands for anything. */
  readonly prints: string;
}

/** A line that begins with `#` is printed by the command above it; one that ends in `\` goes on. */
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
  /** Searched for programs before everything else. */
  readonly programs?: string | undefined;
}

/** Between what one command prints and what the next one does. */
const separator = "\x1e";

/** What curl tells on stderr while it works. */
const progress = /^ *(% Total|Dload|[\d.]+k? +[\d.]+k? )/;

/** Runs the commands one after the other; each prints what is shown under it, and nothing else. */
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
