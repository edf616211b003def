// The configuration a command works with: the one in this folder, or what --config names. Apart from the rest,
// so that commands which need none do not load what reads it.
import { basename, resolve } from "node:path";
import { type ReadOptions, readConfig, type ScriptConfig } from "../../script/config/config.ts";
import { findConfig, hasConfig, unreadConfigs } from "../../script/config/syntax/source.ts";
import type { Invocation, Option } from "../framework/command.ts";

/** Of every command that reads a configuration. */
export const environmentOption: Readonly<Record<string, Option>> = {
  env: { value: "NAME", short: "e", summary: "the environment of the configuration, [env.NAME]" },
};

/** The files given with --config, else the one in this folder; throws ConfigError when there is none. */
export function configFiles({ options, directory }: Invocation): readonly string[] {
  const given = options.texts("config");
  if (given.length === 0) return [findConfig(directory)];
  return given.map((file) => resolve(directory, file));
}

/** Whether there is one to run, or one is asked for that must be there. */
export function hasConfigs({ options, directory }: Invocation): boolean {
  return options.texts("config").length > 0 || hasConfig(directory);
}

/** How the files are read: with the environment of --env, for a mode if scripts are to run. */
export function readOptions({ options, environment }: Invocation, mode?: "dev" | "serve"): ReadOptions {
  return {
    environment: options.text("env"),
    mode,
    readsDotEnv: environment.CLOUDFLARE_LOAD_DEV_VARS_FROM_DOT_ENV !== "false",
  };
}

/** The configuration of a command that takes one. */
export function scriptConfig(invocation: Invocation): ScriptConfig {
  return readConfig(configFiles(invocation)[0]!, readOptions(invocation));
}

/** Says which configurations of this folder are not read, because another one is preferred. */
export function noteUnread({ options, directory, output }: Invocation): void {
  const unread = options.texts("config").length > 0 ? [] : unreadConfigs(directory);
  if (unread.length === 0) return;
  const read = basename(findConfig(directory));
  output.note(`Using ${read}; ${unread.join(" and ")} ${unread.length === 1 ? "is" : "are"} not read.`);
}
