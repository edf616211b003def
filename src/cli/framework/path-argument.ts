// Paths as typed. What begins like a URL is refused where only a path is possible: as a path it would become a
// folder named "s3:" in the current one.
import { isAbsolute, resolve } from "node:path";
import { schemeOf } from "../../model/location.ts";
import type { Invocation } from "./command.ts";
import { type CommandError, usageError } from "./command-error.ts";

/** The absolute path. `called` is the option or variable that names it, `possible` what it may be. */
export function pathArgument(
  { directory }: Pick<Invocation, "directory">,
  { called, text, possible = "a folder" }: PathText,
): string {
  refuseUrl({ called, text, possible });
  return resolve(directory, text);
}

export interface PathText {
  readonly called: string;
  readonly text: string;
  readonly possible?: string;
}

/** For what is used as it is typed. */
export function refuseUrl({ called, text, possible = "a folder" }: PathText): void {
  const scheme = schemeOf(text);
  if (scheme !== undefined && !isAbsolute(text)) throw unknownScheme(called, scheme, possible);
}

/** Says the scheme alone: the rest may hold a password. */
export function unknownScheme(called: string, scheme: string, possible: string): CommandError {
  const path =
    scheme === "file:"
      ? "Write the path alone, without file://"
      : `A path that really begins so is written with ./ in front: ./${scheme}`;
  return usageError(`${called} takes ${possible}, not a URL that begins with "${scheme}"`, [path]);
}
