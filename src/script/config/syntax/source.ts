// Finds a configuration file and parses it as TOML, JSON or JSONC.
import { existsSync, readFileSync } from "node:fs";
import { basename, extname, join, resolve } from "node:path";
import { TextDecoder } from "node:util";
import { ConfigError, configError, displayPath, type SourceText } from "./error.ts";
import { parseJson } from "./json.ts";
import type { ParsedConfig } from "./positions.ts";
import { parseToml } from "./toml.ts";

/** Wrangler files have different keys, and the defaults of Cloudflare Workers. */
export type ConfigKind = "store" | "wrangler";

export interface ConfigSource extends SourceText, ParsedConfig {
  readonly format: "toml" | "json";
  readonly kind: ConfigKind;
}

export const configNames = ["store.toml", "store.json", "store.jsonc"] as const;

/** Wrangler files in the order in which wrangler prefers them. */
export const wranglerNames = ["wrangler.json", "wrangler.jsonc", "wrangler.toml"] as const;

function configsIn(directory: string, names: readonly string[]): string[] {
  return names.filter((name) => existsSync(join(directory, name)));
}

export function hasConfig(directory: string): boolean {
  return configsIn(directory, [...configNames, ...wranglerNames]).length > 0;
}

export function detectKind(file: string): ConfigKind {
  return /^wrangler\b/i.test(basename(file)) ? "wrangler" : "store";
}

/** Configuration files of a directory that are ignored because another file is preferred. */
export function unreadConfigs(directory: string): string[] {
  const foreign = configsIn(directory, wranglerNames);
  return configsIn(directory, configNames).length > 0 ? foreign : foreign.slice(1);
}

/** Finds the configuration file of a directory. Throws when it has more than one store file. */
export function findConfig(directory: string): string {
  const found = configsIn(directory, configNames);
  const [first = configsIn(directory, wranglerNames)[0], second] = found;
  if (first === undefined) {
    throw new ConfigError(
      `There is no store.toml, store.json or store.jsonc in ${resolve(directory)}, and no wrangler.toml, .json or .jsonc.\n` +
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
  return parseSource(path, readBytes);
}

/** Parses a file in the format that its extension indicates. */
export function parseSource(path: string, readBytes: (file: string) => Uint8Array): ConfigSource {
  const file = resolve(path);
  const extension = extname(file).toLowerCase();
  if (extension !== ".toml" && extension !== ".json" && extension !== ".jsonc") {
    throw new ConfigError(
      `${displayPath(file)} is not a configuration: its name must end in .toml, .json or .jsonc.`,
    );
  }
  const source = { file, kind: detectKind(file), text: decodeText(file, readBytes(file)) };
  if (extension === ".toml") return { ...source, ...parseToml(source), format: "toml" };
  return { ...source, ...parseJson(source, extension === ".json" ? "json" : "jsonc"), format: "json" };
}

function readBytes(file: string): Uint8Array {
  try {
    return readFileSync(file);
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    const why =
      code === "ENOENT" ? "there is no such file" : code === "EISDIR" ? "it is a directory" : String(code);
    const hint = code === "ENOENT" ? "\n  Make a new project with: store init" : "";
    throw new ConfigError(`Cannot read ${displayPath(file)}: ${why}.${hint}`, [], { cause });
  }
}

function decodeText(file: string, bytes: Uint8Array): string {
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
