// A script's configuration: what stands in store.toml, store.json or store.jsonc, checked in full before
// anything starts. Faults that only show later, such as a bucket that does not exist, are told at their place
// in the file all the same.
import { dirname } from "node:path";
import type { ScriptBindings } from "./bindings.ts";
import { checkAssets } from "./config/check-assets.ts";
import {
  checkBuckets,
  checkCompatibilityDate,
  checkCompatibilityFlags,
  checkMain,
  checkName,
  parsing,
  strings,
} from "./config-check.ts";
import { type ConfigError, configError } from "./config-error.ts";
import { createFields, type Fields } from "./config-fields.ts";
import type { ConfigPath } from "./config-places.ts";
import { parseRoute } from "./config-routes.ts";
import { type ConfigSource, readSource } from "./config-source.ts";
import { checkPlaces, type StorePlaces } from "./config-store.ts";
import { checkDistinct, checkVars } from "./config-vars.ts";
import { parseCron } from "./cron.ts";

export { ConfigError } from "./config-error.ts";
export { findConfig, hasConfig } from "./config-source.ts";

export interface ScriptConfig extends ScriptBindings {
  /** Absolute. */
  readonly file: string;
  /** Where the file is: paths in it begin here. */
  readonly directory: string;
  readonly name: string;
  /** Absolute; undefined when assets are served without a script. */
  readonly main: string | undefined;
  /** `YYYY-MM-DD` */
  readonly compatibilityDate: string;
  readonly compatibilityFlags: readonly string[];
  readonly routes: readonly string[];
  readonly crons: readonly string[];
  /** Where the store is, when that is a cluster. */
  readonly places?: StorePlaces;
}

export interface ReadOptions {
  /** The clock, in milliseconds since the epoch: a missing compatibility date is suggested by it. */
  readonly now?: () => number;
}

/** What each configuration was read from. */
const sources = new WeakMap<ScriptConfig, ConfigSource>();

/** Throws a ConfigError with every fault of the file. */
export function readConfig(file: string, options: ReadOptions = {}): ScriptConfig {
  return configOf(readSource(file), options);
}

/** The same for a configuration that was read already. */
export function configOf(source: ConfigSource, { now = Date.now }: ReadOptions = {}): ScriptConfig {
  const fields = createFields(source);
  const config = checked(fields, new Date(now()).toISOString().slice(0, 10));
  if (fields.faults.length > 0) throw configError(source, fields.faults);
  sources.set(config, source);
  return config;
}

function checked(fields: Fields, today: string): ScriptConfig {
  const { source, line } = fields;
  const example = '{ "name": "photos", "main": "src/index.ts" }';
  const top = fields.table([], source.value, example);
  if (top === undefined) throw configError(source, fields.faults);
  const cronsLine = line("crons", ["*/5 * * * *"]);
  const triggersExample =
    source.format === "toml" ? `\n    [triggers]\n    ${cronsLine}` : `"triggers": { ${cronsLine} }`;
  const triggers = fields.table(["triggers"], top.triggers, triggersExample);
  const checkRoute = parsing(fields, parseRoute);
  const checkCron = parsing(fields, parseCron, 'For example, every five minutes: "*/5 * * * *"');
  // Before the keys at the top: one that strayed among these is not told as missing too.
  const buckets = checkBuckets(fields, top);
  const places = checkPlaces(fields, top);
  const assets = checkAssets(fields, top);
  const config = {
    file: source.file,
    directory: dirname(source.file),
    name: checkName(fields, top),
    main: assets !== undefined && top.main === undefined ? undefined : checkMain(fields, top),
    compatibilityDate: checkCompatibilityDate(fields, top, today),
    compatibilityFlags: checkCompatibilityFlags(fields, top),
    routes: strings(fields, ["routes"], top.routes, line("routes", ["photos.example.com/*"]), checkRoute),
    crons: strings(fields, ["triggers", "crons"], triggers?.crons, cronsLine, checkCron),
    buckets,
    kvNamespaces: [],
    assets,
    unsupported: [],
    vars: checkVars(fields, top),
    ...(places === undefined ? {} : { places }),
  };
  checkDistinct(fields, top);
  return config;
}

/**
 * The error for a fault that was found later, at its place: the value at the path, or the key of a variable.
 * Paths are the file's own: `["store_buckets", 0, "bucket_name"]`, `["vars", "GREETING"]`.
 */
export function configErrorFor(
  config: ScriptConfig,
  path: ConfigPath,
  message: string,
  hint?: string,
): ConfigError {
  // A copy of a configuration is as good as the one that was read: the file is still there.
  const source = sources.get(config) ?? readSource(config.file);
  const place = source.places.find(path);
  const isVariable = path[0] === "vars" && path.length === 2;
  const span = isVariable ? (place.key ?? place.value) : place.value;
  return configError(source, [{ span, message, hint }]);
}
