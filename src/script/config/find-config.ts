// Finds the configuration of a directory: a store file, the wrangler file that a build generated, or
// a wrangler file.
import { existsSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { ConfigError } from "./syntax/error.ts";
import { deployFile, findGenerated, type GeneratedConfig } from "./wrangler/deploy-config.ts";

export const configNames = ["store.toml", "store.json", "store.jsonc"] as const;

/** Wrangler files in the order in which wrangler prefers them. */
export const wranglerNames = ["wrangler.json", "wrangler.jsonc", "wrangler.toml"] as const;

function configsIn(directory: string, names: readonly string[]): string[] {
  return names.filter((name) => existsSync(join(directory, name)));
}

export function hasConfig(directory: string): boolean {
  return configsIn(directory, [...configNames, ...wranglerNames, deployFile]).length > 0;
}

/**
 * Finds the configuration to run: that of the project's build, if there is one. A store file takes
 * precedence. Throws when there is more than one store file.
 */
export function findConfig(directory: string): string {
  return findStoreFile(directory) ?? findGenerated(directory)?.file ?? findWritten(directory);
}

/** Finds the configuration that the project's author wrote, not the one of its build. */
export function findSource(directory: string): string {
  return findStoreFile(directory) ?? findWritten(directory);
}

/** Describes the files of a directory that are ignored because another file is preferred. */
export function describeIgnored(directory: string): string | undefined {
  const [own] = configsIn(directory, configNames);
  const foreign = configsIn(directory, wranglerNames);
  const generated = own === undefined ? findGenerated(directory) : undefined;
  if (generated !== undefined) return describeBuild(directory, generated, foreign[0]);
  const ignored = own === undefined ? foreign.slice(1) : foreign;
  if (ignored.length === 0) return undefined;
  return `Using ${own ?? foreign[0]}; ${ignored.join(" and ")} ${ignored.length === 1 ? "is" : "are"} ignored.`;
}

function describeBuild(
  directory: string,
  { file, others }: GeneratedConfig,
  written: string | undefined,
): string {
  const from = written === undefined ? "" : ` from ${written}`;
  const again = "Run the build again after a change.";
  const used = `Using ${relative(resolve(directory), file)}, which a build made${from}. ${again}`;
  if (others.length === 0) return used;
  const options = [file, ...others].map((path) => `--config ${relative(resolve(directory), path)}`);
  return `${used}\nThe build made further scripts; to run all of them: store dev ${options.join(" ")}`;
}

function findStoreFile(directory: string): string | undefined {
  const [first, second] = configsIn(directory, configNames);
  if (second !== undefined) {
    throw new ConfigError(
      `There is more than one configuration in ${resolve(directory)}: ${first} and ${second}.\n` +
        "  Keep one of them, or say which with: --config FILE",
    );
  }
  return first === undefined ? undefined : resolve(directory, first);
}

function findWritten(directory: string): string {
  const [first] = configsIn(directory, wranglerNames);
  if (first !== undefined) return resolve(directory, first);
  throw new ConfigError(
    `There is no store.toml, store.json or store.jsonc in ${resolve(directory)}, and no wrangler.toml, .json or .jsonc.\n` +
      "  Make a new project with: store init\n  Or name the file with: --config FILE",
  );
}
