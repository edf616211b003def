// Reads typed fields out of a configuration, and keeps every fault with its place: all of them are told at
// once, not one a run.

import { nearest } from "../../../model/did-you-mean.ts";
import { type Fault, mostFaults, type Span } from "./error.ts";
import type { ConfigPath } from "./positions.ts";
import type { ConfigSource } from "./source.ts";

export type Table = Readonly<Record<string, unknown>>;

/** Every key there is, by the table it stands in; "" is the top. */
export type KnownKeys = Readonly<Record<string, readonly string[]>>;

/** The keys of store.toml, store.json and store.jsonc. */
export const knownKeys: KnownKeys = {
  "": [
    "name",
    "main",
    "compatibility_date",
    "compatibility_flags",
    "routes",
    "triggers",
    "store_buckets",
    "kv_namespaces",
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
  ],
  triggers: ["crons"],
  store_buckets: ["binding", "bucket_name"],
  kv_namespaces: ["binding", "id"],
  assets: ["directory", "binding", "not_found_handling", "html_handling", "run_worker_first"],
  rules: ["type", "globs", "fallthrough"],
};

/** Keys of the file as a whole, which an environment cannot have. */
export const fileKeys: readonly string[] = ["env", "records", "blobs", "reads"];

/** A longer list helps no one. */
const maxListedKeys = 30;

/** What other tools call the same. */
const renamed: Readonly<Record<string, string>> = { r2_buckets: "store_buckets", route: "routes" };

export interface Told {
  readonly message: string;
  readonly hint?: string | undefined;
  /** The value when not given. */
  readonly at?: "key" | "value";
}

export interface Fields {
  readonly source: ConfigSource;
  readonly faults: readonly Fault[];
  /** Paths in the file that are not reported as missing, since a mistyped key was reported instead. */
  readonly excused: ReadonlySet<string>;
  tell(path: ConfigPath, told: Told): void;
  /** Tells that a key is not there, unless a mistyped one was told in its stead. */
  missing(path: ConfigPath, hint: string): void;
  /** A table with its unknown keys told; undefined when it is something else or not there. */
  table(path: ConfigPath, value: unknown, example: string): Table | undefined;
  string(path: ConfigPath, value: unknown, example: string): string | undefined;
  /** An array's elements with their paths; empty when it is something else or not there. */
  list(path: ConfigPath, value: unknown, example: string): readonly Element[];
  /** `key = value`, as the file's form has it. */
  line(key: string, value: unknown): string;
}

export interface Element {
  readonly path: ConfigPath;
  readonly value: unknown;
}

export interface FieldsOptions {
  /** Undefined where the keys were checked already. */
  readonly keys: KnownKeys | undefined;
  /** The fields of the same file that were read before: their faults are kept. */
  readonly before?: Fields | undefined;
}

export function createFields(
  source: ConfigSource,
  { keys, before }: FieldsOptions = { keys: knownKeys },
): Fields {
  const faults: Fault[] = [...(before?.faults ?? [])];
  const excused = new Set<string>(before?.excused);

  function tell(path: ConfigPath, { message, hint, at = "value" }: Told): void {
    // One more than is told is enough to know that there are more.
    if (faults.length > mostFaults) return;
    const place = source.places.find(path);
    const span = at === "key" ? (place.key ?? place.value) : place.value;
    faults.push({ span, message, hint });
  }

  function wrongType(path: ConfigPath, value: unknown, needed: string, example: string): void {
    const message = `${shown(source.places.inFile(path))} must be ${needed}, not ${typeOf(value, source.format)}.`;
    const hint = `Write:${example.startsWith("\n") ? "" : " "}${example}`;
    tell(path, { message, hint: example === "" ? undefined : hint });
  }

  function unknownKey(path: ConfigPath, key: string, known: readonly string[]): void {
    if (faults.length > mostFaults) return;
    const where = tableOf(path);
    const here = kindOfTable(path);
    const place = where === "" ? "the configuration" : where;
    const other = known.includes(renamed[key] ?? "") ? renamed[key] : undefined;
    const home =
      other ?? Object.keys(keys ?? {}).find((table) => table !== here && keys![table]!.includes(key));
    const near = other ?? (home === undefined ? nearest(key, known) : undefined);
    if (near !== undefined) excused.add(JSON.stringify(source.places.inFile([...path, near])));
    if (home === "") excused.add(JSON.stringify([key]));
    const message = `"${key}" is not a key of ${place}`;
    if (near !== undefined) {
      tell([...path, key], { message: `${message}: did you mean ${near}?`, at: "key" });
      return;
    }
    const all = known.length > maxListedKeys ? "Remove it." : `Its keys are: ${known.join(", ")}`;
    const hint = home === undefined ? all : belongsIn(source.format, key, home);
    tell([...path, key], { message: `${message}.`, hint, at: "key" });
  }

  return {
    source,
    faults,
    excused,
    tell,
    missing(path, hint) {
      if (excused.has(JSON.stringify(source.places.inFile(path)))) return;
      const inside = path.slice(0, -1);
      // In TOML whatever stands behind [vars] is a variable, and nobody means this one to be.
      const strayed = ["vars", ...path];
      if (source.places.has(strayed)) {
        const message = `"${path.at(-1)}" is missing: here it is one of the variables.`;
        tell(strayed, { message, hint: belongsIn(source.format, String(path.at(-1)), ""), at: "key" });
        return;
      }
      const span = opening(source, source.places.find(inside).value);
      const where = inside.length === 0 ? "" : ` in ${tableOf(source.places.inFile(inside))}`;
      faults.push({ span, message: `"${path.at(-1)}" is missing${where}.`, hint });
    },
    table(path, value, example) {
      if (value === undefined) return undefined;
      if (!isTable(value)) {
        wrongType(path, value, source.format === "toml" ? "a table" : "an object", example);
        return undefined;
      }
      const known = keys === undefined ? undefined : keysOf(keys, path);
      for (const key of Object.keys(value)) {
        const isSchema = source.format === "json" && path.length === 0 && key === "$schema";
        if (known !== undefined && !known.includes(key) && !isSchema) unknownKey(path, key, known);
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
      source.format === "toml" ? `${key} = ${inline(value)}` : `${JSON.stringify(key)}: ${inline(value)}`,
  };
}

export function isTable(value: unknown): value is Table {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

/** The table a path stands for, whichever of its elements. */
function tableOf(path: ConfigPath): string {
  return path.filter((step) => typeof step === "string").join(".");
}

/** The same for the tables of an environment: `env.staging.triggers` is a `triggers`. */
function kindOfTable(path: ConfigPath): string {
  return tableOf(path[0] === "env" ? path.slice(2) : path);
}

function keysOf(keys: KnownKeys, path: ConfigPath): readonly string[] | undefined {
  if (path.length === 1 && path[0] === "env") return undefined;
  const known = keys[kindOfTable(path)];
  return path.length === 2 && path[0] === "env" ? known?.filter((key) => !fileKeys.includes(key)) : known;
}

/** `routes[1]` */
function shown(path: ConfigPath): string {
  const steps = path.map((step, i) => (typeof step === "number" ? `[${step}]` : i === 0 ? step : `.${step}`));
  return path.length === 0 ? "The configuration" : `"${steps.join("")}"`;
}

function typeOf(value: unknown, format: ConfigSource["format"]): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (value instanceof Date) return "a date";
  if (typeof value === "object") return format === "toml" ? "a table" : "an object";
  return `a ${typeof value}`;
}

/** Where something is missing, its beginning is marked and not all of it. */
function opening({ text }: ConfigSource, { start, end }: Span): Span {
  return { start, end: text[start] === "{" ? start + 1 : end };
}

function belongsIn(format: ConfigSource["format"], key: string, home: string): string {
  if (format === "json") {
    return home === "" ? `"${key}" belongs in the outermost object.` : `"${key}" belongs in "${home}".`;
  }
  if (home === "") return `"${key}" belongs at the top of the file, above the first [table].`;
  const isList = ["store_buckets", "kv_namespaces", "rules"].includes(home);
  return `"${key}" belongs under ${isList ? `[[${home}]]` : `[${home}]`}.`;
}

/** Strings, and lists of them, look alike in both forms. */
function inline(value: unknown): string {
  return Array.isArray(value) ? `[${value.map(inline).join(", ")}]` : JSON.stringify(value);
}
