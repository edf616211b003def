// Reads a secret access key from a file or stdin, because arguments are visible to other users and
// in the shell's history.
import type { Invocation } from "../../framework/command.ts";
import { CommandError, usageError } from "../../framework/command-error.ts";
import { fileInput } from "../../terminal/input.ts";
import { askHidden } from "../../terminal/prompt.ts";
import { readText } from "../../terminal/read-text.ts";

const what = "The secret access key";

/** Reads stdin without a file; on a terminal, the input is hidden. */
export async function readSecret({ output }: Invocation, file: string | undefined): Promise<string> {
  const text =
    file !== undefined
      ? await readTextFile(file, what)
      : process.stdin.isTTY
        ? await askHidden(process.stdin, output, `${what} (not shown): `)
        : await readText(process.stdin, what);
  const secret = text.replace(/\r?\n$/, "");
  if (secret === "") throw new CommandError(`${what} is empty; nothing was changed.`);
  return secret;
}

/** `name` is what the file contains, for messages. */
export async function readTextFile(path: string, name: string): Promise<string> {
  const input = await fileInput(path);
  try {
    return await readText(input.chunks, name);
  } finally {
    input.close();
  }
}

export function requireOneSource(isStdin: boolean, file: string | undefined, names: readonly string[]): void {
  if (isStdin !== (file !== undefined)) return;
  throw usageError(`Specify exactly one of ${names.join(" and ")}.`);
}
