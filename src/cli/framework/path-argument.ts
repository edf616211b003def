// Paths as typed. What begins like a URL is refused where only a path is possible: as a path it would become a
// folder named "s3:" in the current one.
import { isAbsolute, resolve } from "node:path";
import { parseScheme } from "../../model/location.ts";
import type { Invocation } from "./command.ts";
import { type CommandError, usageError } from "./command-error.ts";

/** The absolute path. `called` is the option or variable that names it, `possible` what it may be. */
export function pathArgument(
  { directory }: Pick<Invocation, "directory">,
  { label, text, expected = "a folder" }: PathText,
): string {
  refuseUrl({ label, text, expected });
  return resolve(directory, text);
}

export interface PathText {
  readonly label: string;
  readonly text: string;
  readonly expected?: string;
}

/** For what is used as it is typed. */
export function refuseUrl({ label, text, expected = "a folder" }: PathText): void {
  const scheme = parseScheme(text);
  if (scheme !== undefined && !isAbsolute(text)) throw unknownScheme(label, scheme, expected);
}

/** Says the scheme alone: the rest may hold a password. */
export function unknownScheme(label: string, scheme: string, expected: string): CommandError {
  const path =
    scheme === "file:"
      ? "Write the path alone, without file://"
      : `A path that really begins so is written with ./ in front: ./${scheme}`;
  return usageError(`${label} takes ${expected}, not a URL that begins with "${scheme}"`, [path]);
}
