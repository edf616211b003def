// Runs the console commands of a page in a terminal, in order, and compares their output with the
// page.
import assert from "node:assert/strict";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { TestContext } from "node:test";
import { program, root } from "../../cli/store.ts";
import { type Answer, lineInTerminal, terminalProgram } from "../../cli/terminal.ts";
import { temporaryDirectory } from "../../support/stores.ts";

interface Step {
  readonly command: string;
  /** Expected output lines. A last line such as [1] is the exit code. */
  readonly shown: readonly string[];
}

function stepsOf(text: string): Step[] {
  const blocks = [...text.matchAll(/^```console\n(.*?)^```$/gms)].map(([, block]) => block!);
  return blocks.flatMap((block) =>
    block
      .split(/^\$ /m)
      .slice(1)
      .map((step) => {
        const [command = "", ...shown] = step.trimEnd().split("\n");
        return { command, shown };
      }),
  );
}

/** Returns a pattern for an output line. Other times, ids and keys match; … matches any text. */
function patternOf(line: string): RegExp {
  const pattern = line
    .replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")
    .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g, "\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d")
    .replaceAll("0123456789abcdef0123456789abcdef", "[0-9a-f]{32}")
    .replaceAll("STOREABCDEFGHIJKLMNO", "STORE[A-Z2-7]{15}")
    .replaceAll(/abcdefghijklmnopqrstuvwxyz[A-Z]{14}/g, "[\\w-]{40}")
    .replaceAll("…", ".*");
  return new RegExp(`^${pattern}$`);
}

function answersTo(command: string): Answer[] {
  if (/^store secret put/.test(command)) return [{ after: "(not shown): ", type: "a value\r" }];
  const [, name] = /^store bucket delete (\S+) --force$/.exec(command) ?? [];
  return name === undefined ? [] : [{ after: "to delete it: ", type: `${name}\r` }];
}

/** Returns the final lines of the screen, without text that was erased. */
function linesOf(screen: string): string[] {
  const lines = screen.replaceAll("\r\n", "\n").split("\n");
  return lines.map((line) =>
    line
      .replace(/^[^\n]*\u001b\[K/, "")
      .replaceAll(/\u001b\[\d*[GJ]/g, "")
      .trimEnd(),
  );
}

export interface PlayOptions {
  readonly environment?: Readonly<Record<string, string>>;
  /** Replaces addresses of the page with those of the test. */
  readonly replace?: (text: string) => string;
  /** Returns the command to run instead, for example with the address of a started server. */
  readonly prepare?: (command: string, directory: string) => Promise<string>;
}

/** Runs every command of the page in `docs/`. Does nothing without a pseudo terminal. */
export async function playPage(
  t: TestContext,
  name: string,
  {
    environment: given = {},
    replace = (text) => text,
    prepare = async (command) => command,
  }: PlayOptions = {},
): Promise<void> {
  if (terminalProgram === undefined) return;
  let directory = await temporaryDirectory(t);
  const bin = join(directory, "bin");
  await mkdir(bin);
  await writeFile(join(bin, "store"), `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`);
  await chmod(join(bin, "store"), 0o755);
  const plain = { PATH: `${bin}:${process.env.PATH}`, NO_COLOR: "1", TZ: "UTC", LC_ALL: "C.UTF-8" };
  const environment = { ...plain, ...given };
  const steps = stepsOf(replace(await readFile(join(root, "docs", name), "utf8")));
  assert.notEqual(steps.length, 0);
  for (const { command, shown } of steps) {
    if (command.startsWith("cd ")) {
      directory = resolve(directory, command.slice(3));
      continue;
    }
    const { code, screen } = await lineInTerminal(directory, await prepare(command, directory), {
      answers: answersTo(command),
      columns: 200,
      environment,
    });
    const expected = [...shown];
    const [, expectedCode = "0"] = /^\[(\d+)\]$/.exec(expected.at(-1) ?? "") ?? [];
    if (expectedCode !== "0") expected.pop();
    assert.equal(code, Number(expectedCode), `${command}: ${screen}`);
    const lines = linesOf(screen).filter((line, i, all) => line !== "" || i < all.length - 1);
    assert.equal(lines.length, expected.length, `${command} prints:\n${lines.join("\n")}`);
    for (const [i, line] of expected.entries()) {
      assert.match(lines[i]!, patternOf(line.trimEnd()), `${command} prints:\n${lines.join("\n")}`);
    }
  }
}
