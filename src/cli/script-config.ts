// The configuration a command works with: the one in this folder, or what --config names. Apart from the rest,
// so that commands which need none do not load what reads it.
import { resolve } from "node:path";
import { findConfig, hasConfig, readConfig, type ScriptConfig } from "../script/config.ts";
import type { Invocation } from "./command.ts";

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

/** The configuration of a command that takes one. */
export function scriptConfig(invocation: Invocation): ScriptConfig {
  return readConfig(configFiles(invocation)[0]!);
}
