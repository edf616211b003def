// Checks which files the bundle of a sandboxed script contains. The bundler reads files as the user of
// the server, so that an import of any file of this user would show it to the script.
import { realpath } from "node:fs/promises";
import { dirname, join, sep } from "node:path";

export interface ScriptFolders {
  /** The script, and the folder of its configuration. */
  readonly main: string;
  readonly directory: string;
  /** Paths that the configuration gives to modules. */
  readonly aliases: readonly string[];
}

/**
 * Returns the first input that is neither in a folder of the script nor in an installed package, and
 * that the configuration does not name: who writes the configuration decides what the script gets.
 */
export async function findForeignInput(
  inputs: readonly string[],
  { main, directory, aliases }: ScriptFolders,
): Promise<string | undefined> {
  const own = await Promise.all([directory, dirname(main)].map((folder) => realpath(folder)));
  const folders = [...own, ...own.flatMap(packageFolders)];
  for (const input of inputs) {
    if (aliases.some((path) => isAliased(input, path))) continue;
    // Links are followed: a link in the script's folder may lead anywhere.
    const path = await realpath(input).catch(ignoreMissing);
    if (path !== undefined && !folders.some((folder) => path.startsWith(folder + sep))) return input;
  }
  return undefined;
}

/** An alias can omit the extension. */
function isAliased(input: string, path: string): boolean {
  return input === path || (dirname(input) === dirname(path) && input.startsWith(`${path}.`));
}

/** esbuild also lists modules that a package replaces by nothing, which are no files. */
function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT") throw error;
}

/** Returns the folders in which Node looks for packages. */
function packageFolders(directory: string): string[] {
  const folders: string[] = [];
  for (let folder = directory; folder !== dirname(folder); folder = dirname(folder)) {
    folders.push(join(folder, "node_modules"));
  }
  return folders;
}
