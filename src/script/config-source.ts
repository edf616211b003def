// Finds a configuration file and reads it, whichever of the three forms it has.
import { existsSync, readFileSync } from "node:fs";
import { basename, extname, join, resolve } from "node:path";
import { ConfigError, configError, type SourceText, shownPath } from "./config-error.ts";
import { parseJson } from "./config-json.ts";
import type { ParsedConfig } from "./config-places.ts";
import { parseToml } from "./config-toml.ts";

export interface ConfigSource extends SourceText, ParsedConfig {
  readonly format: "toml" | "json";
}

export const configNames = ["store.toml", "store.json", "store.jsonc"] as const;

function configsIn(directory: string): string[] {
  return configNames.filter((name) => existsSync(join(directory, name)));
}

export function hasConfig(directory: string): boolean {
  return configsIn(directory).length > 0;
}

/** The one configuration file of a directory. */
export function findConfig(directory: string): string {
  const found = configsIn(directory);
  const [first, second] = found;
  if (first === undefined) {
    throw new ConfigError(
      `There is no store.toml, store.json or store.jsonc in ${resolve(directory)}.\n` +
        "  Make a new project with: store init\n  Or name the file with: --config FILE",
    );
  }
  if (second !== undefined) {
    throw new ConfigError(
      `There is more than one configuration in ${resolve(directory)}: ${found.join(" and ")}.\n` +
        "  Keep one of them, or say which with: --config FILE",
    );
  }
  return resolve(directory, first);
}

export function readSource(path: string): ConfigSource {
  return sourceOf(path, bytesOf);
}

/** The file's bytes are asked for when its name is one of a configuration. */
export function sourceOf(path: string, bytesOf: (file: string) => Uint8Array): ConfigSource {
  const file = resolve(path);
  const form = extname(file).toLowerCase();
  if (form !== ".toml" && form !== ".json" && form !== ".jsonc") {
    throw new ConfigError(
      `${shownPath(file)} is not a configuration: its name must end in .toml, .json or .jsonc.`,
    );
  }
  const source = { file, text: decoded(file, bytesOf(file)) };
  if (form === ".toml") return { ...source, ...parseToml(source), format: "toml" };
  return { ...source, ...parseJson(source, form === ".json" ? "json" : "jsonc"), format: "json" };
}

function bytesOf(file: string): Uint8Array {
  try {
    return readFileSync(file);
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    const why =
      code === "ENOENT" ? "there is no such file" : code === "EISDIR" ? "it is a directory" : String(code);
    const hint = code === "ENOENT" ? "\n  Make a new project with: store init" : "";
    throw new ConfigError(`Cannot read ${shownPath(file)}: ${why}.${hint}`, [], { cause });
  }
}

function decoded(file: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    const text = new TextDecoder().decode(bytes);
    const start = Math.max(0, text.indexOf("\ufffd"));
    throw configError({ file, text }, [
      {
        span: { start, end: start + 1 },
        message: "The file is not UTF-8 text from here on.",
        hint: `Save ${basename(file)} as UTF-8.`,
      },
    ]);
  }
}
