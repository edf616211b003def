// Reads typed fields out of a configuration, and keeps every fault with its place: all of them are told at
// once, not one a run.
import { type Fault, mostFaults, type Span } from "./config-error.ts";
import type { ConfigPath } from "./config-places.ts";
import type { ConfigSource } from "./config-source.ts";
import { nearest } from "./nearest.ts";

export type Table = Readonly<Record<string, unknown>>;

/** Every key there is, by the table it stands in; "" is the top. */
export const knownKeys: Readonly<Record<string, readonly string[]>> = {
  "": [
    "name",
    "main",
    "compatibility_date",
    "compatibility_flags",
    "routes",
    "triggers",
    "store_buckets",
    "assets",
    "vars",
    "records",
    "blobs",
    "reads",
  ],
  triggers: ["crons"],
  store_buckets: ["binding", "bucket_name"],
  assets: ["directory", "binding", "not_found_handling", "html_handling", "run_worker_first"],
};

export interface Told {
  readonly message: string;
  readonly hint?: string | undefined;
  /** The value when not given. */
  readonly at?: "key" | "value";
}

export interface Fields {
  readonly source: ConfigSource;
  readonly faults: readonly Fault[];
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

export function createFields(source: ConfigSource): Fields {
  const faults: Fault[] = [];
  const excused = new Set<string>();

  function tell(path: ConfigPath, { message, hint, at = "value" }: Told): void {
    // One more than is told is enough to know that there are more.
    if (faults.length > mostFaults) return;
    const place = source.places.find(path);
    const span = at === "key" ? (place.key ?? place.value) : place.value;
    faults.push({ span, message, hint });
  }

  function wrongType(path: ConfigPath, value: unknown, needed: string, example: string): void {
    const message = `${shown(path)} must be ${needed}, not ${typeOf(value, source.format)}.`;
    tell(path, { message, hint: `Write:${example.startsWith("\n") ? "" : " "}${example}` });
  }

  function unknownKey(path: ConfigPath, key: string): void {
    if (faults.length > mostFaults) return;
    const where = tableOf(path);
    const known = knownKeys[where] ?? [];
    const place = where === "" ? "the configuration" : where;
    const home = Object.keys(knownKeys).find((table) => table !== where && knownKeys[table]!.includes(key));
    const near = home === undefined ? nearest(key, known) : undefined;
    if (near !== undefined) excused.add(JSON.stringify([...path, near]));
    if (home === "") excused.add(JSON.stringify([key]));
    const message = `"${key}" is not a key of ${place}`;
    if (near !== undefined) {
      tell([...path, key], { message: `${message}: did you mean ${near}?`, at: "key" });
      return;
    }
    const hint =
      home === undefined ? `Its keys are: ${known.join(", ")}` : belongsIn(source.format, key, home);
    tell([...path, key], { message: `${message}.`, hint, at: "key" });
  }

  return {
    source,
    faults,
    tell,
    missing(path, hint) {
      if (excused.has(JSON.stringify(path))) return;
      const inside = path.slice(0, -1);
      // In TOML whatever stands behind [vars] is a variable, and nobody means this one to be.
      const strayed = ["vars", ...path];
      if (source.places.has(strayed)) {
        const message = `"${path.at(-1)}" is missing: here it is one of the variables.`;
        tell(strayed, { message, hint: belongsIn(source.format, String(path.at(-1)), ""), at: "key" });
        return;
      }
      const span = opening(source, source.places.find(inside).value);
      const where = inside.length === 0 ? "" : ` in ${tableOf(inside)}`;
      faults.push({ span, message: `"${path.at(-1)}" is missing${where}.`, hint });
    },
    table(path, value, example) {
      if (value === undefined) return undefined;
      if (!isTable(value)) {
        wrongType(path, value, source.format === "toml" ? "a table" : "an object", example);
        return undefined;
      }
      const known = knownKeys[tableOf(path)];
      for (const key of Object.keys(value)) {
        const isSchema = source.format === "json" && path.length === 0 && key === "$schema";
        if (known !== undefined && !known.includes(key) && !isSchema) unknownKey(path, key);
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

function isTable(value: unknown): value is Table {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

/** The table a path stands for, whichever of its elements. */
function tableOf(path: ConfigPath): string {
  return path.filter((step) => typeof step === "string").join(".");
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
  return `"${key}" belongs under ${home === "store_buckets" ? "[[store_buckets]]" : `[${home}]`}.`;
}

/** Strings, and lists of them, look alike in both forms. */
function inline(value: unknown): string {
  return Array.isArray(value) ? `[${value.map(inline).join(", ")}]` : JSON.stringify(value);
}
