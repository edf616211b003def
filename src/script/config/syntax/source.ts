// Reads a configuration file and parses it as TOML, JSON or JSONC.
import { readFileSync } from "node:fs";
import { basename, extname, resolve } from "node:path";
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

export function detectKind(file: string): ConfigKind {
  return /^wrangler\b/i.test(basename(file)) ? "wrangler" : "store";
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
