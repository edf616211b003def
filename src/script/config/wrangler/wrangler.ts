// Reads a wrangler file: checks its keys, then translates them to Store's keys and keeps their
// positions. Notes report everything that was replaced or has no effect.
import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { EmulatedBinding, UnsupportedBinding } from "../../bindings.ts";
import { wranglerFlags } from "../platform-flags.ts";
import { createFields, type Fields, isTable, type Table } from "../syntax/fields.ts";
import type { ConfigPath } from "../syntax/positions.ts";
import type { ConfigSource } from "../syntax/source.ts";
import { createOrigins, createView, type Origins } from "../syntax/view.ts";
import { unsupportedBindings, unsupportedHint } from "./bindings.ts";
import { emulatedBindings } from "./emulated-bindings.ts";
import { isGenerated, selectWranglerEnvironment } from "./generated.ts";
import { wranglerKeys } from "./keys.ts";
import { type Note, usableBuckets, usableDate, usableName, usableNamespaces } from "./names.ts";
import { collectUnknownKeys, noteEnvironments, noteIgnoredKeys } from "./notes.ts";
import { isRoute, wranglerRoutes } from "./routes.ts";
import { addSite, siteScriptFolder } from "./site.ts";

export interface WranglerOptions {
  /** Absolute path of the script, if the file's own `main` is replaced. */
  readonly main: string | undefined;
  readonly environment: string | undefined;
  /** Whether the script runs in a sandbox, which has service bindings. */
  readonly isSandboxed: boolean;
  /** Date as `YYYY-MM-DD`. */
  readonly today: string;
  /** Whether invalid routes and schedules are ignored, as wrangler does in development. */
  readonly isLenient: boolean;
}

export interface WranglerConfig {
  /** The file, translated to the keys of a store file. */
  readonly source: ConfigSource;
  /** The fields, with all faults found so far. */
  readonly fields: Fields;
  readonly emulated: readonly EmulatedBinding[];
  readonly unsupported: readonly UnsupportedBinding[];
  readonly notes: readonly string[];
  readonly devPort: number | undefined;
  /** Names to read from files of development variables; undefined for every name. */
  readonly secretNames: readonly string[] | undefined;
}

export function readWrangler(file: ConfigSource, options: WranglerOptions): WranglerConfig {
  const { environment } = options;
  const notes: string[] = [];
  const note: Note = (text) => notes.push(`${basename(file.file)}: ${text}`);
  const unknown = collectUnknownKeys();
  const isWritten = !isGenerated(file.value as Table);
  const raw = createFields(file, {
    keys: wranglerKeys,
    onUnknownKey: isWritten ? undefined : unknown.add,
  });
  raw.table([], file.value, "");
  raw.table(["env"], (file.value as Table).env, "");
  const view = selectWranglerEnvironment(file, environment);
  const selected = (isTable(view.value) ? view.value : {}) as Table;
  const top = options.main === undefined ? selected : { ...selected, main: options.main };
  if (environment && isWritten) raw.table(["env", environment], findEnvironment(file, environment), "");
  const fields = createFields(view, { keys: wranglerKeys, previous: raw, onUnknownKey: unknown.add });
  for (const key of Object.keys(top)) checkKeys(fields, [key], top[key]);

  const found = unsupportedBindings(fields, top, options);
  const emulated = emulatedBindings(fields, top);
  const origins = createOrigins();
  const value = translateKeys({ top, file, origins, note, options });
  for (const [index, { inView }] of found.entries()) origins.set(["unsupported", index], inView);
  for (const [index, { inView }] of emulated.entries()) origins.set(["emulated", index], inView);
  noteIgnoredKeys(top, note);
  unknown.noteTo(note);
  if (!environment) noteEnvironments(file, top, note);
  if (found.length > 0) {
    const names = found.map(({ binding, kind }) => `${binding} (${kind})`).join(", ");
    note(`Store does not have ${names}: using one throws an error. ${unsupportedHint}`);
  }
  const datasets = emulated.flatMap(({ emulated: { kind, binding } }) =>
    kind === "dataset" ? [binding] : [],
  );
  if (datasets.length > 0) note(`data points written to ${datasets.join(", ")} are dropped.`);
  const port = devPort(fields, top);
  const source = createView(view, value, origins);
  return {
    source,
    fields: createFields(source, { keys: undefined, previous: fields }),
    emulated: emulated.map((each) => each.emulated),
    unsupported: found.map(({ binding, kind }) => ({ binding, kind })),
    notes,
    devPort: port,
    secretNames: isTable(top.secrets) ? filterStrings(top.secrets.required) : undefined,
  };
}

function findEnvironment({ value }: ConfigSource, name: string): unknown {
  const { env } = value as Table;
  return isTable(env) ? env[name] : undefined;
}

const checkedLater = [
  "r2_buckets",
  "kv_namespaces",
  "services",
  "assets",
  "triggers",
  "route",
  "routes",
  "rules",
];

/** Reports unknown keys, and values that should be tables, in every table with known keys. */
function checkKeys(fields: Fields, path: ConfigPath, value: unknown): void {
  const table = path.filter((step) => typeof step === "string").join(".");
  if (wranglerKeys[table] === undefined) return;
  if (Array.isArray(value)) {
    for (const [index, element] of value.entries()) checkKeys(fields, [...path, index], element);
    return;
  }
  // These keys are checked together with their values.
  if (!isTable(value) && checkedLater.includes(table)) return;
  if (fields.table(path, value, "") === undefined || !isTable(value)) return;
  for (const key of Object.keys(value)) checkKeys(fields, [...path, key], value[key]);
}

interface Translation {
  readonly top: Table;
  readonly file: ConfigSource;
  readonly origins: Origins;
  readonly note: Note;
  readonly options: WranglerOptions;
}

/** Keys with the same name and meaning in both kinds of file. */
const sharedKeys = ["vars", "define", "alias", "tsconfig", "jsx_factory", "jsx_fragment", "rules"] as const;

function translateKeys(translation: Translation): Table {
  const { top, file, origins, note, options } = translation;
  const folder = dirname(file.file);
  const shared = sharedKeys.filter((key) => top[key] !== undefined).map((key) => [key, top[key]]);
  const value: Record<string, unknown> = Object.fromEntries(shared);
  value.name = usableName(top.name, basename(folder), note);
  value.main = translateMain(top, folder, origins);
  value.compatibility_date = usableDate(top.compatibility_date, options.today, note);
  value.compatibility_flags = wranglerFlags(top.compatibility_flags, note);
  value.routes = translateRoutes(translation);
  if (top.triggers !== undefined) {
    value.triggers = isTable(top.triggers) ? { crons: top.triggers.crons } : top.triggers;
  }
  value.store_buckets = usableBuckets(top.r2_buckets, note);
  origins.set(["store_buckets"], ["r2_buckets"]);
  value.kv_namespaces = usableNamespaces(top.kv_namespaces, note);
  if (options.isSandboxed) value.services = translateServices(top.services);
  value.assets = translateAssets(top);
  addSite(top, value, origins, note);
  addPages(translation, value, folder);
  addVersion(translation, value);
  return value;
}

/** In files of wrangler 1 the script is the key `build.upload.main`, or the main of package.json. */
function translateMain(top: Table, folder: string, origins: Origins): unknown {
  if (top.main !== undefined) return top.main;
  const upload = isTable(top.build) ? top.build.upload : undefined;
  const siteFolder = siteScriptFolder(top, folder);
  if (!isTable(upload) && siteFolder !== undefined) {
    origins.set(["main"], ["site"]);
    return join(siteFolder, packageMain(join(folder, siteFolder)) ?? "index.js");
  }
  if (!isTable(upload) && (top.type === "javascript" || top.type === "webpack")) {
    origins.set(["main"], ["type"]);
    return packageMain(folder);
  }
  if (!isTable(upload) || typeof upload.main !== "string") return undefined;
  origins.set(["main"], ["build", "upload", "main"]);
  return join(typeof upload.dir === "string" ? upload.dir : "dist", upload.main);
}

function packageMain(folder: string): string | undefined {
  try {
    const content: unknown = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    return isTable(content) && typeof content.main === "string" ? content.main : undefined;
  } catch {
    // Without a package the key `main` is missing, which is reported.
    return undefined;
  }
}

function translateRoutes({ top, origins, note, options }: Translation): unknown {
  const found = wranglerRoutes(top.route, top.routes);
  if (found === undefined) return top.routes;
  const usable = options.isLenient ? found.filter(({ route }) => isRoute(route)) : found;
  if (usable.length < found.length) {
    const names = found.filter(({ route }) => !isRoute(route)).map(({ route }) => JSON.stringify(route));
    note(`these routes cannot be used and are left out: ${names.join(", ")}.`);
  }
  for (const [index, { inFile }] of usable.entries()) origins.set(["routes", index], inFile);
  return usable.map(({ route }) => route);
}

/** A script of an environment has the name of both. */
function translateServices(services: unknown): unknown {
  if (!Array.isArray(services)) return services;
  return services.map((entry: unknown) => {
    if (!isTable(entry)) return entry;
    const { environment, remote: _, experimental_remote: __, ...rest } = entry;
    return typeof environment === "string" ? { ...rest, service: `${entry.service}-${environment}` } : rest;
  });
}

function translateAssets({ assets }: Table): unknown {
  if (!isTable(assets)) return assets;
  const { experimental_serve_directly: _, ...supportedKeys } = assets;
  return supportedKeys;
}

/** Adds a Pages project: a folder of files that may contain a script. */
function addPages({ top, origins, note }: Translation, value: Record<string, unknown>, folder: string): void {
  const directory = top.pages_build_output_dir;
  if (directory === undefined || value.assets !== undefined) return;
  origins.set(["assets", "directory"], ["pages_build_output_dir"]);
  origins.set(["assets"], ["pages_build_output_dir"]);
  value.assets = { directory };
  if (typeof directory !== "string" || value.main !== undefined) return;
  if (existsSync(resolve(folder, directory, "_worker.js"))) {
    value.main = join(directory, "_worker.js");
    value.assets = { directory, binding: "ASSETS", run_worker_first: true };
  } else if (existsSync(join(folder, "functions"))) {
    note("functions of a Pages project are not run: only its files are served.");
  }
}

/** Adds metadata of the deployed version. In Store every load counts as a new version. */
function addVersion({ top, origins }: Translation, value: Record<string, unknown>): void {
  const binding = isTable(top.version_metadata) ? top.version_metadata.binding : undefined;
  if (typeof binding !== "string") return;
  const timestamp = new Date().toISOString();
  const version = { id: crypto.randomUUID(), tag: "", timestamp };
  const vars = isTable(value.vars) ? value.vars : {};
  // If a variable has the same name, it keeps its position, so that the conflict is reported.
  if (!Object.hasOwn(vars, binding)) origins.set(["vars", binding], ["version_metadata", "binding"]);
  value.vars = { ...vars, [binding]: version };
}

function devPort(fields: Fields, { dev }: Table): number | undefined {
  const port = isTable(dev) ? dev.port : undefined;
  if (port === undefined) return undefined;
  if (typeof port === "number" && Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  fields.report(["dev", "port"], {
    message: '"dev.port" must be a whole number up to 65535.',
    hint: `Write: ${fields.source.format === "toml" ? "port = 8787" : '"port": 8787'}`,
  });
  return undefined;
}

function filterStrings(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === "string") : [];
}
