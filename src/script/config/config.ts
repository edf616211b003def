// Reads a script's configuration, from store.toml, store.json, store.jsonc or a wrangler file, and
// checks all of it. Faults found later, such as a missing bucket, also get a position in the file.
import { dirname } from "node:path";
import type { Isolation, IsolationSettings, Outbound, ScriptBindings } from "../bindings.ts";
import { checkAssets } from "./check-assets.ts";
import { type BundlingOptions, checkBundling } from "./check-bundling.ts";
import { checkIsolation } from "./check-isolation.ts";
import { checkKvNamespaces } from "./check-kv.ts";
import { checkServices } from "./check-services.ts";
import { checkTriggers, type Triggers } from "./check-triggers.ts";
import { checkDistinct, envNames } from "./env-names.ts";
import { parseRoute } from "./route-patterns.ts";
import {
  checkBuckets,
  checkCompatibilityDate,
  checkCompatibilityFlags,
  checkMain,
  checkName,
  checkStrings,
  createParseCheck,
} from "./rules.ts";
import type { RuntimeCompatibility } from "./runtime-flags.ts";
import { checkStoreLocations, type StoreLocations } from "./store-location.ts";
import { type ConfigError, configError } from "./syntax/error.ts";
import { createFields, isTable, knownKeys, type Table } from "./syntax/fields.ts";
import type { ConfigPath } from "./syntax/positions.ts";
import { type ConfigSource, readSource } from "./syntax/source.ts";
import { readDevVars } from "./vars/dev-vars.ts";
import { checkEnvironments, selectEnvironment } from "./vars/environments.ts";
import { checkVars } from "./vars/vars.ts";
import { readWrangler, type WranglerConfig } from "./wrangler/wrangler.ts";

export interface ScriptConfig extends ScriptBindings, RuntimeCompatibility, IsolationSettings, Triggers {
  /** Absolute path. */
  readonly file: string;
  /** Directory of the file; paths in the file are relative to this directory. */
  readonly directory: string;
  /** The selected environment; undefined for the top level of the file. */
  readonly environment: string | undefined;
  readonly name: string;
  /** Absolute path of the script; undefined when assets are served without a script. */
  readonly main: string | undefined;
  readonly routes: readonly string[];
  readonly bundling: BundlingOptions;
  /** Development variables; they override variables and secrets of the same name. */
  readonly devVars: Readonly<Record<string, string>>;
  /** Additional files to watch for changes, including files that do not exist yet. */
  readonly watched: readonly string[];
  /** Port of `store dev`, if the file sets one. */
  readonly devPort: number | undefined;
  /** Location of the store, if it is a cluster. */
  readonly storeLocations?: StoreLocations;
}

export interface ReadOptions {
  /** Clock in milliseconds since the epoch, for suggesting a compatibility date. */
  readonly now?: () => number;
  /** The environment to read. Default: the top level of the file. */
  readonly environment?: string | undefined;
  /** The mode in which the script will run, if any. Only "dev" reads development variables. */
  readonly mode?: "dev" | "serve" | undefined;
  /** Whether .env files next to a wrangler file are read in dev. Default: true. */
  readonly readsDotEnv?: boolean | undefined;
  /** Overrides of the file, from the command line. `main` is an absolute path. */
  readonly main?: string | undefined;
  readonly isolation?: Isolation | undefined;
  readonly outbound?: Outbound | undefined;
}

/** The source of each configuration, to report later faults at their position. */
const sources = new WeakMap<ScriptConfig, ConfigSource>();

/** Throws a ConfigError with every fault of the file. */
export function readConfig(file: string, options: ReadOptions = {}): ScriptConfig {
  return parseConfig(readSource(file), options);
}

/** Checks a parsed file; throws a ConfigError with every fault of the file. */
export function parseConfig(source: ConfigSource, options: ReadOptions = {}): ScriptConfig {
  const normalized = normalize(source, options);
  const { fields } = normalized;
  const config = checkConfig(normalized, options);
  if (fields.faults.length > 0) throw configError(source, fields.faults);
  const complete = options.mode === "dev" ? withDevVars(config, normalized, options) : config;
  sources.set(complete, fields.source);
  return complete;
}

/** A store or wrangler file after translation: Store's keys, of the selected environment. */
type NormalizedConfig = Omit<WranglerConfig, "source">;

function normalize(source: ConfigSource, options: ReadOptions): NormalizedConfig {
  const { environment, mode } = options;
  const isForeign = source.kind === "wrangler";
  const file = createFields(source, { keys: isForeign ? undefined : knownKeys });
  const top = file.table([], source.value, '{ "name": "photos", "main": "src/index.ts" }');
  if (top === undefined) throw configError(source, file.faults);
  if (isForeign) {
    const isSandboxed = options.isolation === "sandbox";
    return readWrangler(source, {
      ...{ environment, isSandboxed, today: today(options), isLenient: mode !== "serve" },
      main: options.main,
    });
  }
  checkEnvironments(file, top);
  const view = withMain(selectEnvironment(source, environment), options.main);
  const fields = createFields(view, { keys: knownKeys, previous: file });
  return { fields, emulated: [], unsupported: [], notes: [], devPort: undefined, secretNames: undefined };
}

function withMain(source: ConfigSource, main: string | undefined): ConfigSource {
  return main === undefined || !isTable(source.value)
    ? source
    : { ...source, value: { ...source.value, main } };
}

function today({ now = Date.now }: ReadOptions): string {
  return new Date(now()).toISOString().slice(0, 10);
}

function checkConfig(
  { fields, notes, devPort, ...normalized }: NormalizedConfig,
  options: ReadOptions,
): ScriptConfig {
  const { source, line } = fields;
  const top: Table = isTable(source.value) ? source.value : {};
  const isForeign = source.kind === "wrangler";
  const triggers = checkTriggers(fields, top, { isLenient: isForeign && options.mode !== "serve" });
  const checkRoute = createParseCheck(fields, parseRoute);
  // Checked before the top-level keys, so that a key misplaced in [vars] is reported only once.
  const buckets = checkBuckets(fields, top);
  const kvNamespaces = checkKvNamespaces(fields, top);
  const isolation = checkIsolation(fields, top, isolationOverrides(options));
  const services = checkServices(fields, top, isolation.isolation);
  const assets = checkAssets(fields, top, { isRun: options.mode !== undefined });
  const storeLocations = checkStoreLocations(fields, top);
  const config = {
    file: source.file,
    kind: source.kind,
    directory: dirname(source.file),
    environment: options.environment || undefined,
    name: checkName(fields, top),
    main: checkMain(fields, top),
    compatibilityDate: checkCompatibilityDate(fields, top, today(options)),
    compatibilityFlags: checkCompatibilityFlags(fields, top),
    ...isolation,
    routes: checkStrings(
      fields,
      ["routes"],
      top.routes,
      line("routes", ["photos.example.com/*"]),
      checkRoute,
    ),
    crons: triggers.crons,
    sunday: triggers.sunday,
    bundling: checkBundling(fields, top),
    ...{ buckets, kvNamespaces, services, assets },
    emulated: normalized.emulated,
    unsupported: normalized.unsupported,
    vars: checkVars(fields, top),
    ...{ devVars: {}, watched: [], devPort },
    notes: [...notes, ...triggers.notes],
    ...(storeLocations === undefined ? {} : { storeLocations }),
  };
  checkDistinct(fields, config);
  return config;
}

/** Leaves out members that are undefined. */
function isolationOverrides({ isolation, outbound }: ReadOptions): Partial<IsolationSettings> {
  return {
    ...(isolation === undefined ? {} : { isolation }),
    ...(outbound === undefined ? {} : { outbound }),
  };
}

function withDevVars(
  config: ScriptConfig,
  { secretNames }: NormalizedConfig,
  options: ReadOptions,
): ScriptConfig {
  const { directory, environment, kind, vars, notes } = config;
  const devVars = readDevVars({
    ...{ directory, environment, taken: envNames(config) },
    readsDotEnv: kind === "wrangler" && options.readsDotEnv !== false,
    names: secretNames === undefined ? undefined : [...secretNames, ...Object.keys(vars)],
  });
  return { ...config, devVars: devVars.values, watched: devVars.files, notes: [...notes, ...devVars.notes] };
}

/** Creates an error at the position of `path`, which has Store's keys even for a wrangler file. */
export function configErrorFor(
  config: ScriptConfig,
  path: ConfigPath,
  message: string,
  hint?: string,
): ConfigError {
  // A copy of a configuration has no recorded source, so the file is read again.
  const source = sources.get(config) ?? normalize(readSource(config.file), config).fields.source;
  const position = source.positions.find(path);
  const isVariable = path[0] === "vars" && path.length === 2;
  const span = isVariable ? (position.key ?? position.value) : position.value;
  return configError(source, [{ span, message, hint }]);
}
