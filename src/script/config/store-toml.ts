// Translates a wrangler file to a store.toml, with comments about everything that was left out.
import { basename } from "node:path";
import { stringify } from "smol-toml";
import { isCompatibilityFlag } from "../../binding/compatibility.ts";
import { configError } from "./syntax/error.ts";
import { isTable, type Table } from "./syntax/fields.ts";
import type { ConfigSource } from "./syntax/source.ts";
import { readWrangler, type WranglerConfig } from "./wrangler/wrangler.ts";

export interface StoreToml {
  readonly text: string;
  /** Notes about values that were left out or replaced, and how to handle them. */
  readonly leftOut: readonly string[];
}

/** Throws a ConfigError when the file has faults. */
export function storeToml(source: ConfigSource, today: string): StoreToml {
  const read = (environment?: string) => {
    const config = readWrangler(source, {
      environment,
      today,
      main: undefined,
      isSandboxed: false,
      isLenient: true,
    });
    if (config.fields.faults.length > 0) throw configError(source, config.fields.faults);
    return config;
  };
  const file = basename(source.file);
  const whole = source.value as Table;
  const top = toSection(read(), whole, undefined);
  const environments = isTable(whole.env) ? whole.env : {};
  const others = Object.entries(environments).flatMap(([name, own]) =>
    isTable(own) ? [toSection(read(name), own, name)] : [],
  );
  const sections = [top, ...others].map(({ text }) => text);
  const header = `# Made from ${file}. From here on this file is read, and ${file} is not.\n`;
  return {
    text: `${[header, ...sections].join("\n").trimEnd()}\n`,
    leftOut: [...new Set([top, ...others].flatMap(({ leftOut }) => leftOut))],
  };
}

/** Keys in the order in which they are written; for an environment, only its own keys. */
const plainKeys = ["name", "main", "compatibility_date", "compatibility_flags", "routes"];
const toolKeys = ["tsconfig", "jsx_factory", "jsx_fragment"];
const tableKeys = [
  "triggers",
  "assets",
  "store_buckets",
  "kv_namespaces",
  "rules",
  "define",
  "alias",
  "vars",
];

function toSection(config: WranglerConfig, own: Table, environment: string | undefined): StoreToml {
  const value = config.source.value as Table;
  const isOwn = (key: string) =>
    environment === undefined || originalKeys(key).some((name) => own[name] !== undefined);
  const leftOut = describeLeftOut(config, own);
  const entries = [...plainKeys, ...toolKeys, ...tableKeys]
    .filter((key) => isOwn(key))
    .flatMap((key): [string, unknown][] => {
      const written = withoutNull(toStoreValue(key, value, own));
      return isEmpty(written) ? [] : [[key, written]];
    });
  const table = Object.fromEntries(entries);
  const comments = leftOut.map((words) => `# Note: ${words}`.replaceAll("\n", "\n# "));
  const text = stringify(environment === undefined ? table : { env: { [environment]: table } });
  return { text: [...comments, text].join("\n"), leftOut };
}

/** The wrangler keys that a key of Store is translated from. */
function originalKeys(key: string): readonly string[] {
  if (key === "store_buckets") return ["r2_buckets"];
  if (key === "routes") return ["routes", "route"];
  return key === "assets" ? ["assets", "pages_build_output_dir"] : [key];
}

function toStoreValue(key: string, value: Table, own: Table): unknown {
  if (key === "compatibility_flags") {
    const flags: readonly unknown[] = Array.isArray(value[key]) ? value[key] : [];
    return flags.filter((flag) => typeof flag === "string" && isCompatibilityFlag(flag));
  }
  if (key === "compatibility_date" && value[key] instanceof Date)
    return value[key].toISOString().slice(0, 10);
  if (key === "triggers" && isTable(value.triggers)) {
    const { crons } = value.triggers;
    return Array.isArray(crons) && crons.length > 0 ? { crons: crons.map(weekFromZero) } : undefined;
  }
  if (key === "vars" && isTable(value.vars)) {
    const version = isTable(own.version_metadata) ? own.version_metadata.binding : undefined;
    return Object.fromEntries(Object.entries(value.vars).filter(([name]) => name !== version));
  }
  return value[key];
}

/** Changes the number of Sunday from 1, as in wrangler files, to 0, as in store.toml. */
export function weekFromZero(cron: unknown): unknown {
  if (typeof cron !== "string") return cron;
  const fields = cron.trim().split(/\s+/);
  const week = fields[4];
  if (fields.length !== 5 || week === undefined) return cron;
  const shifted = week
    .split(",")
    .map((item) =>
      item.replace(/^\d(-\d)?/, (days) => days.replace(/\d/g, (day) => String(Number(day) - 1))),
    );
  return [...fields.slice(0, 4), shifted.join(",")].join(" ");
}

/** Removes null values, which TOML cannot represent. */
function withoutNull(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((element) => element !== null).map(withoutNull);
  if (!isTable(value)) return value;
  const members = Object.entries(value).filter(([, member]) => member !== null && member !== undefined);
  return Object.fromEntries(members.map(([name, member]) => [name, withoutNull(member)]));
}

function isEmpty(value: unknown): boolean {
  return (
    value === undefined ||
    (Array.isArray(value) && value.length === 0) ||
    (isTable(value) && Object.keys(value).length === 0)
  );
}

function describeLeftOut({ notes, emulated, unsupported, devPort }: WranglerConfig, own: Table): string[] {
  const build = isTable(own.build) ? own.build.command : undefined;
  const required = isTable(own.secrets) && Array.isArray(own.secrets.required) ? own.secrets.required : [];
  const flags = (Array.isArray(own.compatibility_flags) ? own.compatibility_flags : []).filter(
    (flag: unknown) => flag !== "r2_list_honor_include",
  );
  const crons = isTable(own.triggers) && Array.isArray(own.triggers.crons) ? own.triggers.crons : [];
  // Leave out notes about single bindings: the list below has an entry for each binding.
  const otherNotes = notes
    .map((note) => note.replace(/^\S+: /, ""))
    .filter((note) => !/^(Store does not have|data points written to)/.test(note));
  return [
    ...otherNotes,
    ...emulated.map(
      ({ binding, kind }) => `${binding}, a ${kind}: only projects with a wrangler file have it`,
    ),
    ...unsupported.map(({ binding, kind }) => `${binding}, ${kind}: Store has none, see docs/migrating.md`),
    ...(flags.length === 0 ? [] : [`compatibility flags that need nothing here: ${flags.join(", ")}`]),
    ...(typeof build === "string" ? [`build.command: run it before store dev: ${build}`] : []),
    ...(devPort === undefined ? [] : [`dev.port: use store dev --port ${devPort}`]),
    ...required.map((name: unknown) => `secrets.required: set it with store secret put ${String(name)}`),
    ...(own.version_metadata === undefined ? [] : ["version_metadata: set a variable instead"]),
    ...(crons.some((cron: unknown) => weekFromZero(cron) !== cron)
      ? ["days of the week were renumbered from 0, so controller.cron has another text"]
      : []),
  ];
}
