// Checks paths given on the command line. A URL is refused where a path is expected: otherwise a
// folder named "s3:" would be created.
import { isAbsolute, resolve } from "node:path";
import { parseScheme } from "../../model/names/location.ts";
import type { Invocation } from "./command.ts";
import { type CommandError, usageError } from "./command-error.ts";

/** Returns the absolute path. Throws a usage error for a URL. */
export function pathArgument(
  { directory }: Pick<Invocation, "directory">,
  { label, text, expected = "a folder" }: PathText,
): string {
  refuseUrl({ label, text, expected });
  return resolve(directory, text);
}

export interface PathText {
  /** The option or variable that holds the path. */
  readonly label: string;
  readonly text: string;
  /** Noun for the error message: what the option accepts. Default: "a folder". */
  readonly expected?: string;
}

/** Throws a usage error for a URL. For callers that use the path exactly as typed. */
export function refuseUrl({ label, text, expected = "a folder" }: PathText): void {
  const scheme = parseScheme(text);
  if (scheme !== undefined && !isAbsolute(text)) throw unknownScheme(label, scheme, expected);
}

/** The message quotes only the scheme, because the rest of the URL may contain a password. */
export function unknownScheme(label: string, scheme: string, expected: string): CommandError {
  const path =
    scheme === "file:"
      ? "Write the path without file://"
      : `For a path that starts like this, write ./${scheme}`;
  return usageError(`${label} takes ${expected}, not a URL that starts with "${scheme}"`, [path]);
}
