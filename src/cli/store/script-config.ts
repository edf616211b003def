// Finds the configuration of a command: --config, or the file in the working directory. This is a
// separate file, so that commands without a configuration do not load the parser.
import { isIsolation, parseOutbound } from "../../script/config/check-isolation.ts";
import { type ReadOptions, readConfig, type ScriptConfig } from "../../script/config/config.ts";
import { describeIgnored, findConfig, findSource, hasConfig } from "../../script/config/find-config.ts";
import { isFile } from "../../script/config/rules.ts";
import type { Invocation, Option } from "../framework/command.ts";
import { CommandError, usageError } from "../framework/command-error.ts";
import { pathArgument } from "../framework/path-argument.ts";

/** The option --env of every command that reads a configuration. */
export const environmentOption: Readonly<Record<string, Option>> = {
  env: { value: "NAME", short: "e", summary: "environment to use from the configuration, [env.NAME]" },
};

/** Returns the files of --config, or the file in the working directory. Throws if there is none. */
export function configFiles(invocation: Invocation): readonly string[] {
  return givenFiles(invocation) ?? [findConfig(invocation.directory)];
}

function givenFiles({ options, directory }: Invocation): readonly string[] | undefined {
  const given = options.texts("config");
  if (given.length === 0) return undefined;
  return given.map((text) => pathArgument({ directory }, { label: "--config", text, expected: "a file" }));
}

/** Whether --config is given or the working directory has a configuration. */
export function hasConfigs({ options, directory }: Invocation): boolean {
  return options.texts("config").length > 0 || hasConfig(directory);
}

/** Options of the commands that run scripts. They override the configurations. */
export const isolationOptions: Readonly<Record<string, Option>> = {
  isolation: {
    value: "KIND",
    summary: "process or sandbox: how all scripts run; default: as their configurations say",
  },
  outbound: {
    value: "HOST",
    summary: "what sandboxed scripts may fetch: none, public or a host; repeat for more hosts",
    repeatable: true,
  },
  "allow-unwalled": { summary: "start sandboxed scripts even if the wall's tools are missing" },
};

function isolationOverrides({ options }: Invocation): Pick<ReadOptions, "isolation" | "outbound"> {
  const isolation = options.text("isolation");
  if (isolation !== undefined && !isIsolation(isolation)) {
    throw usageError(`--isolation is process or sandbox, not "${isolation}".`);
  }
  const hosts = options.texts("outbound");
  try {
    return { isolation, outbound: hosts.length === 0 ? undefined : parseOutbound(hosts) };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw usageError(`--outbound: ${error.message}`);
  }
}

/** Returns the script given on the command line of a command that runs scripts. */
export function scriptFile({ parameters, options, directory }: Invocation): string | undefined {
  const [text] = parameters;
  if (text === undefined) return undefined;
  const file = pathArgument({ directory }, { label: "The script", text, expected: "a file" });
  if (/\.(toml|jsonc?)$/i.test(text)) {
    throw usageError(`"${text}" is a configuration, not a script.`, `Use it with: --config ${text}`);
  }
  if (options.texts("config").length > 1) {
    throw usageError("A script can be named for one configuration, but there are several.");
  }
  if (isFile(file)) return file;
  throw new CommandError(`There is no script "${text}".`, {
    hint: "If a build makes it, run that build first, for example: npm run build",
  });
}

/** Options for reading a configuration. Only commands that run scripts pass `mode`. */
export function readOptions(invocation: Invocation, mode?: "dev" | "serve"): ReadOptions {
  const { options, environment } = invocation;
  return {
    ...(mode === undefined ? {} : { ...isolationOverrides(invocation), main: scriptFile(invocation) }),
    environment: options.text("env"),
    mode,
    readsDotEnv: environment.CLOUDFLARE_LOAD_DEV_VARS_FROM_DOT_ENV !== "false",
  };
}

/** Reads the configuration of a command that takes a single configuration. */
export function scriptConfig(invocation: Invocation): ScriptConfig {
  return readConfig(configFiles(invocation)[0]!, readOptions(invocation));
}

/** Like `scriptConfig`, but reads the file that the project's author wrote, not that of its build. */
export function sourceConfig(invocation: Invocation): ScriptConfig {
  const [file] = givenFiles(invocation) ?? [findSource(invocation.directory)];
  return readConfig(file!, readOptions(invocation));
}

/** Prints a note if the working directory contains configurations that are ignored. */
export function noteIgnored({ options, directory, output }: Invocation): void {
  const note = options.texts("config").length > 0 ? undefined : describeIgnored(directory);
  if (note !== undefined) output.note(note);
}
