// Reads typed fields of a configuration. Collects all faults with their positions, so that one run
// reports every fault.
import { nearest } from "../../../model/names/did-you-mean.ts";
import { type Fault, maxFaults, type Span } from "./error.ts";
import type { ConfigPath } from "./positions.ts";
import type { ConfigSource } from "./source.ts";

export type Table = Readonly<Record<string, unknown>>;

/** Known keys by table name; "" is the top level. */
export type KnownKeys = Readonly<Record<string, readonly string[]>>;

/** The keys of store.toml, store.json and store.jsonc. */
export const knownKeys: KnownKeys = {
  "": [
    "name",
    "main",
    "compatibility_date",
    "compatibility_flags",
    "isolation",
    "outbound",
    "routes",
    "triggers",
    "store_buckets",
    "kv_namespaces",
    "services",
    "assets",
    "vars",
    "env",
    "define",
    "alias",
    "tsconfig",
    "jsx_factory",
    "jsx_fragment",
    "rules",
    "records",
    "blobs",
    "reads",
    "cache",
    "encryption",
  ],
  triggers: ["crons"],
  store_buckets: ["binding", "bucket_name"],
  kv_namespaces: ["binding", "id"],
  services: ["binding", "service", "entrypoint", "props"],
  assets: ["directory", "binding", "not_found_handling", "html_handling", "run_worker_first"],
  cache: ["directory", "size"],
  rules: ["type", "globs", "fallthrough"],
};

/** Keys that are only allowed at the top level, not in an environment. */
export const fileKeys: readonly string[] = ["env", "records", "blobs", "reads", "cache", "encryption"];

/** Maximum number of keys in a hint. A longer list would not help, so it is left out. */
const maxListedKeys = 30;

/** Keys of other tools, and Store's key with the same meaning. */
const keyAliases: Readonly<Record<string, string>> = { r2_buckets: "store_buckets", route: "routes" };

export interface FaultDescription extends Omit<Fault, "span"> {
  /** Which part of the entry is marked. Default: the value. */
  readonly at?: "key" | "value";
}

export interface Fields {
  readonly source: ConfigSource;
  readonly faults: readonly Fault[];
  /** Missing keys that are not reported, because a mistyped spelling was already reported. */
  readonly suppressed: ReadonlySet<string>;
  report(path: ConfigPath, description: FaultDescription): void;
  /** Reports a missing key, unless a mistyped spelling of it was already reported. */
  missing(path: ConfigPath, hint: string): void;
  /** Returns a table and reports its unknown keys; undefined when it is absent or not a table. */
  table(path: ConfigPath, value: unknown, example: string): Table | undefined;
  string(path: ConfigPath, value: unknown, example: string): string | undefined;
  /** Returns the elements of an array with their paths; empty when it is absent or not an array. */
  list(path: ConfigPath, value: unknown, example: string): readonly Element[];
  /** Formats `key = value` in the syntax of the file. */
  line(key: string, value: unknown): string;
}

export interface Element {
  readonly path: ConfigPath;
  readonly value: unknown;
}

export interface FieldsOptions {
  /** Undefined when the keys have already been checked. */
  readonly keys: KnownKeys | undefined;
  /** Fields of the same file that were read earlier; their faults are kept. */
  readonly previous?: Fields | undefined;
  /** Called for an unknown key instead of reporting a fault. `nearest`: the key that was meant. */
  readonly onUnknownKey?: ((path: ConfigPath, nearest: string | undefined) => void) | undefined;
}

export function createFields(
  source: ConfigSource,
  { keys, previous, onUnknownKey }: FieldsOptions = { keys: knownKeys },
): Fields {
  const faults: Fault[] = [...(previous?.faults ?? [])];
  const suppressed = new Set<string>(previous?.suppressed);

  function report(path: ConfigPath, { message, hint, at = "value" }: FaultDescription): void {
    // One fault more than the limit is enough to know that some are not shown.
    if (faults.length > maxFaults) return;
    const position = source.positions.find(path);
    const span = at === "key" ? (position.key ?? position.value) : position.value;
    faults.push({ span, message, hint });
  }

  function wrongType(path: ConfigPath, value: unknown, needed: string, example: string): void {
    const message = `${formatPath(source.positions.inFile(path))} must be ${needed}, not ${describeType(value, source.format)}.`;
    const hint = `Write:${example.startsWith("\n") ? "" : " "}${example}`;
    report(path, { message, hint: example === "" ? undefined : hint });
  }

  function unknownKey(path: ConfigPath, key: string, allowedKeys: readonly string[]): void {
    if (faults.length > maxFaults) return;
    const where = formatTablePath(path);
    const currentTable = tableKind(path);
    const tableLabel = where === "" ? "the configuration" : where;
    const other = allowedKeys.includes(keyAliases[key] ?? "") ? keyAliases[key] : undefined;
    const owningTable =
      other ?? Object.keys(keys ?? {}).find((table) => table !== currentTable && keys![table]!.includes(key));
    const near = other ?? (owningTable === undefined ? nearest(key, allowedKeys) : undefined);
    if (onUnknownKey !== undefined) {
      onUnknownKey([...path, key], near);
      return;
    }
    if (near !== undefined) suppressed.add(JSON.stringify(source.positions.inFile([...path, near])));
    if (owningTable === "") suppressed.add(JSON.stringify([key]));
    const message = `"${key}" is not a key of ${tableLabel}`;
    if (near !== undefined) {
      report([...path, key], { message: `${message}: did you mean ${near}?`, at: "key" });
      return;
    }
    const all = allowedKeys.length > maxListedKeys ? "Remove it." : `Its keys are: ${allowedKeys.join(", ")}`;
    const hint = owningTable === undefined ? all : misplacedHint(source.format, key, owningTable);
    report([...path, key], { message: `${message}.`, hint, at: "key" });
  }

  return {
    source,
    faults,
    suppressed,
    report,
    missing(path, hint) {
      if (suppressed.has(JSON.stringify(source.positions.inFile(path)))) return;
      const inside = path.slice(0, -1);
      // In TOML every key after [vars] is a variable, even if it was meant for the top level.
      const strayPath = ["vars", ...path];
      if (source.positions.has(strayPath)) {
        const message = `"${path.at(-1)}" is missing: here it is one of the variables.`;
        report(strayPath, {
          message,
          hint: misplacedHint(source.format, String(path.at(-1)), ""),
          at: "key",
        });
        return;
      }
      const span = openingSpan(source, source.positions.find(inside).value);
      const where = inside.length === 0 ? "" : ` in ${formatTablePath(source.positions.inFile(inside))}`;
      faults.push({ span, message: `"${path.at(-1)}" is missing${where}.`, hint });
    },
    table(path, value, example) {
      if (value === undefined) return undefined;
      if (!isTable(value)) {
        wrongType(path, value, source.format === "toml" ? "a table" : "an object", example);
        return undefined;
      }
      const allowedKeys = keys === undefined ? undefined : findAllowedKeys(keys, path, source.kind);
      for (const key of Object.keys(value)) {
        const isSchema = source.format === "json" && path.length === 0 && key === "$schema";
        if (allowedKeys !== undefined && !allowedKeys.includes(key) && !isSchema)
          unknownKey(path, key, allowedKeys);
      }
      return value;
    },
    string(path, value, example) {
      if (typeof value === "string") return value;
      if (value !== undefined) wrongType(path, value, "a string", example);
      return undefined;
    },
    list(path, value, example) {
      if (value === undefined) return [];
      if (!Array.isArray(value)) {
        wrongType(path, value, "a list", example);
        return [];
      }
      return value.map((element: unknown, index) => ({ path: [...path, index], value: element }));
    },
    line: (key, value) =>
      source.format === "toml"
        ? `${key} = ${formatValue(value)}`
        : `${JSON.stringify(key)}: ${formatValue(value)}`,
  };
}

export function isTable(value: unknown): value is Table {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

/** Table name at a path, without array indexes. */
function formatTablePath(path: ConfigPath): string {
  return path.filter((step) => typeof step === "string").join(".");
}

/** Table name without an environment's prefix: `env.staging.triggers` becomes `triggers`. */
function tableKind(path: ConfigPath): string {
  return formatTablePath(path[0] === "env" ? path.slice(2) : path);
}

function findAllowedKeys(
  keys: KnownKeys,
  path: ConfigPath,
  kind: ConfigSource["kind"],
): readonly string[] | undefined {
  if (path.length === 1 && path[0] === "env") return undefined;
  const allowedKeys = keys[tableKind(path)];
  if (path.length !== 2 || path[0] !== "env") return allowedKeys;
  const topLevelOnly = kind === "store" ? fileKeys : ["env"];
  return allowedKeys?.filter((key) => !topLevelOnly.includes(key));
}

/** Formats a path for messages: `"routes[1]"`. */
function formatPath(path: ConfigPath): string {
  const steps = path.map((step, i) => (typeof step === "number" ? `[${step}]` : i === 0 ? step : `.${step}`));
  return path.length === 0 ? "The configuration" : `"${steps.join("")}"`;
}

function describeType(value: unknown, format: ConfigSource["format"]): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (value instanceof Date) return "a date";
  if (typeof value === "object") return format === "toml" ? "a table" : "an object";
  return `a ${typeof value}`;
}

/** Returns the span that marks a missing key: only the opening brace, if its table has braces. */
function openingSpan({ text }: ConfigSource, { start, end }: Span): Span {
  return { start, end: text[start] === "{" ? start + 1 : end };
}

function misplacedHint(format: ConfigSource["format"], key: string, owningTable: string): string {
  if (format === "json") {
    return owningTable === ""
      ? `"${key}" belongs in the outermost object.`
      : `"${key}" belongs in "${owningTable}".`;
  }
  if (owningTable === "") return `"${key}" belongs at the top of the file, above the first [table].`;
  const isList = ["store_buckets", "kv_namespaces", "rules"].includes(owningTable);
  return `"${key}" belongs under ${isList ? `[[${owningTable}]]` : `[${owningTable}]`}.`;
}

/** Formats strings and lists of strings, whose syntax is the same in TOML and JSON. */
function formatValue(value: unknown): string {
  return Array.isArray(value) ? `[${value.map(formatValue).join(", ")}]` : JSON.stringify(value);
}
