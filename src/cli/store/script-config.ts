// Finds the configuration of a command: --config, or the file in the working directory. This is a
// separate file, so that commands without a configuration do not load the parser.
import { basename, resolve } from "node:path";
import { type ReadOptions, readConfig, type ScriptConfig } from "../../script/config/config.ts";
import { findConfig, hasConfig, unreadConfigs } from "../../script/config/syntax/source.ts";
import type { Invocation, Option } from "../framework/command.ts";

/** The option --env of every command that reads a configuration. */
export const environmentOption: Readonly<Record<string, Option>> = {
  env: { value: "NAME", short: "e", summary: "environment to use from the configuration, [env.NAME]" },
};

/** Returns the files of --config, or the file in the working directory. Throws if there is none. */
export function configFiles({ options, directory }: Invocation): readonly string[] {
  const given = options.texts("config");
  if (given.length === 0) return [findConfig(directory)];
  return given.map((file) => resolve(directory, file));
}

/** Whether --config is given or the working directory has a configuration. */
export function hasConfigs({ options, directory }: Invocation): boolean {
  return options.texts("config").length > 0 || hasConfig(directory);
}

/** Options for reading a configuration. Only commands that run scripts pass `mode`. */
export function readOptions({ options, environment }: Invocation, mode?: "dev" | "serve"): ReadOptions {
  return {
    environment: options.text("env"),
    mode,
    readsDotEnv: environment.CLOUDFLARE_LOAD_DEV_VARS_FROM_DOT_ENV !== "false",
  };
}

/** Reads the configuration of a command that takes a single configuration. */
export function scriptConfig(invocation: Invocation): ScriptConfig {
  return readConfig(configFiles(invocation)[0]!, readOptions(invocation));
}

/** Prints a note if the working directory contains configurations that are ignored. */
export function noteUnread({ options, directory, output }: Invocation): void {
  const unread = options.texts("config").length > 0 ? [] : unreadConfigs(directory);
  if (unread.length === 0) return;
  const read = basename(findConfig(directory));
  output.note(`Using ${read}; ${unread.join(" and ")} ${unread.length === 1 ? "is" : "are"} ignored.`);
}
