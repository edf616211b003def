// Development variables, from files next to the configuration: .dev.vars, or .env if there is no
// .dev.vars. In dev they override variables and secrets of the same name.
import { readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import type { EnvName } from "../env-names.ts";
import { ConfigError, configError, displayPath, type SourceText } from "../syntax/error.ts";
import { type DotenvEntry, expandDotenv, parseDotenv } from "./dotenv.ts";

export interface DevVarsOptions {
  readonly directory: string;
  readonly environment: string | undefined;
  /** Whether .env files are read when there is no .dev.vars. */
  readonly readsDotEnv: boolean;
  /** Names to read; all other names are ignored. Undefined: every name is read. */
  readonly names: readonly string[] | undefined;
  /** Names that env already contains. */
  readonly taken: readonly EnvName[];
}

export interface DevVars {
  readonly values: Readonly<Record<string, string>>;
  /** The files that were read, and missing files that would be read once they exist. */
  readonly files: readonly string[];
  readonly notes: readonly string[];
}

export const maxDevVarsBytes = 256 * 1024;

export function readDevVars(options: DevVarsOptions): DevVars {
  const { directory, readsDotEnv, environment } = options;
  const inFolder = (name: string) => join(directory, name);
  const specific = environment ? [environment] : [];
  const devVars = [...specific.map((name) => `.dev.vars.${name}`), ".dev.vars"].map(inFolder);
  // Ordered from general to specific: values of later files override earlier ones.
  const dotEnv = readsDotEnv
    ? [".env", ".env.local", ...specific.flatMap((name) => [`.env.${name}`, `.env.${name}.local`])].map(
        inFolder,
      )
    : [];
  const files = [...devVars, ...dotEnv];
  const own = devVars.flatMap((file) => readText(file) ?? []).slice(0, 1);
  const isOwn = own.length > 0;
  const sources = isOwn ? own : dotEnv.flatMap((file) => readText(file) ?? []);
  const found = sources.flatMap((source) =>
    parseDotenv(source)
      .filter(({ name }) => options.names?.includes(name) ?? true)
      .map((entry) => ({ source, entry })),
  );
  for (const { source, entry } of found) refuseBinding(source, entry, options.taken);
  const values = Object.fromEntries(found.map(({ entry }) => [entry.name, entry.value]));
  return { values: isOwn ? values : expandDotenv(values), files, notes: createNotes(sources, values) };
}

function createNotes(sources: readonly SourceText[], values: Readonly<Record<string, string>>): string[] {
  const names = Object.keys(values);
  if (names.length === 0) return [];
  return [`${sources.map(({ file }) => basename(file)).join(", ")}: sets ${names.join(", ")} in env.`];
}

/** Undefined when the file does not exist. */
function readText(file: string): SourceText | undefined {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats?.isFile() !== true) return undefined;
  if (stats.size > maxDevVarsBytes) {
    throw new ConfigError(
      `${displayPath(file)} has ${stats.size} bytes, and such a file has at most ${maxDevVarsBytes}.\n` +
        "  Remove what is not a variable from it.",
    );
  }
  try {
    return { file, text: readFileSync(file, "utf8") };
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    throw new ConfigError(`Cannot read ${displayPath(file)}: ${String(code)}.`, [], { cause });
  }
}

function refuseBinding(source: SourceText, { name, start }: DotenvEntry, taken: readonly EnvName[]): void {
  const other = taken.find((one) => one.name === name && one.path[0] !== "vars");
  if (other === undefined) return;
  throw configError(source, [
    {
      span: { start, end: start + name.length },
      message: `"${name}" is already the name of ${other.what} in the configuration.`,
      hint: "Remove this line, or give one of the two another name.",
    },
  ]);
}
