// Finds the store of a command: from options, the environment or the configuration, in this order.
// Default: the default data directory.
import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { parseByteSize } from "../../model/names/byte-size.ts";
import {
  type BodyCacheLocation,
  blobsFault,
  type ClusterLocation,
  cacheDirectoryFault,
  cacheSizeFault,
  type Location,
  type Reads,
  readsChoices,
  recordsFault,
  urlForms,
} from "../../model/names/location.ts";
import type { ConfiguredLocations } from "../../script/config/store-location.ts";
import type { Invocation } from "../framework/command.ts";
import { CommandError, usageError } from "../framework/command-error.ts";
import { pathArgument } from "../framework/path-argument.ts";
import { refuseService } from "./remote/service.ts";

type ClusterPart = "records" | "blobs";

const faults = { records: recordsFault, blobs: blobsFault } as const;
const variables = { data: "STORE_DATA", records: "STORE_RECORDS", blobs: "STORE_BLOBS" } as const;
const dataForms = "a folder or memory: (for a cluster use --records URL and --blobs URL)";

/** Returns a cluster's location, or a string: an absolute path or "memory:". */
export async function storeLocation(invocation: Invocation): Promise<Location> {
  const { options } = invocation;
  refuseService(invocation);
  const data = options.text("data") ?? readVariable(invocation, "data");
  if (options.text("data") === "") throw usageError("--data needs a folder, but is empty.");
  const isByOption = options.text("records") !== undefined || options.text("blobs") !== undefined;
  if (options.text("data") !== undefined && isByOption) {
    throw usageError("--data (a directory) and --records or --blobs (a cluster) cannot be combined.", [
      "Remove --data, or remove --records and --blobs.",
    ]);
  }
  const isByVariable = Boolean(readVariable(invocation, "records") ?? readVariable(invocation, "blobs"));
  if (data !== undefined && !isByOption) {
    if (options.text("data") === undefined && isByVariable) {
      throw new CommandError(
        "STORE_DATA (a directory) and STORE_RECORDS or STORE_BLOBS (a cluster) are both set.",
        { hint: "Unset one of them, or choose with an option." },
      );
    }
    if (data === "memory:") return data;
    const label = options.text("data") === undefined ? variables.data : "--data";
    return pathArgument(invocation, { label, text: data, expected: dataForms });
  }
  const folder = configFolder(invocation);
  return (await clusterLocation(invocation)) ?? join(folder, ".store");
}

/** Returns whether every new object is encrypted: from the environment or the configuration. */
export async function storeEncryption(invocation: Invocation): Promise<"always" | undefined> {
  const given = invocation.environment.STORE_ENCRYPTION || undefined;
  if (given === "always") return given;
  if (given !== undefined) throw usageError('STORE_ENCRYPTION must be "always".');
  return (await readConfiguredLocations(invocation))?.encryption;
}

/** Returns the folder that contains the default data directory, without parsing the configuration. */
function configFolder(invocation: Invocation): string {
  const given = invocation.options.text("config");
  if (given !== undefined) {
    const file = configPath(invocation, given);
    if (!existsSync(file)) throw new CommandError(`There is no configuration file "${given}".`);
    return dirname(file);
  }
  // Use the working directory: parent folders are not searched for a configuration.
  return invocation.directory;
}

function configPath(invocation: Invocation, text: string): string {
  return pathArgument(invocation, { label: "--config", text, expected: "a file" });
}

async function clusterLocation(invocation: Invocation): Promise<ClusterLocation | undefined> {
  const config = await readConfiguredLocations(invocation);
  const records = readClusterUrl(invocation, "records") ?? config?.records;
  const blobs = readClusterUrl(invocation, "blobs") ?? config?.blobs;
  if (records === undefined && blobs === undefined) return refuseCache(config);
  if (records === undefined || blobs === undefined) {
    throw incompleteClusterError(records === undefined ? "records" : "blobs", config);
  }
  const reads = parseReads(invocation) ?? config?.reads;
  const cache = parseCache(invocation) ?? config?.cache;
  return {
    ...{ records, blobs },
    ...(reads === undefined ? {} : { reads }),
    ...(cache === undefined ? {} : { cache }),
  };
}

/** A directory is on a disk of this machine already. */
function refuseCache(config: ConfiguredLocations | undefined): undefined {
  if (config?.cache === undefined) return undefined;
  const hint = 'Remove it, or name the cluster: "records" and "blobs", or STORE_RECORDS and STORE_BLOBS.';
  throw config.fault("cache", '"cache" is for a cluster, but the store is a data directory.', hint);
}

/** The environment's form of `cache`: both variables, or neither. */
function parseCache({ environment }: Invocation): BodyCacheLocation | undefined {
  const directory = environment.STORE_CACHE || undefined;
  const size = environment.STORE_CACHE_SIZE || undefined;
  if (directory === undefined && size === undefined) return undefined;
  const fault = cacheDirectoryFault(directory) ?? cacheSizeFault(parseByteSize(size ?? ""));
  if (fault === undefined) return { directory: directory!, size: parseByteSize(size!)! };
  const name = fault.startsWith("directory") ? "STORE_CACHE" : "STORE_CACHE_SIZE";
  const hint = "Set both STORE_CACHE=/folder and STORE_CACHE_SIZE=100GiB, or neither.";
  throw usageError(`${name}${fault.slice(fault.indexOf('"') + 1)}.`, hint);
}

function readVariable({ environment }: Invocation, name: keyof typeof variables): string | undefined {
  return environment[variables[name]] || undefined;
}

function readClusterUrl(invocation: Invocation, name: ClusterPart): string | undefined {
  const option = invocation.options.text(name);
  const url = option ?? readVariable(invocation, name);
  if (url === undefined) return undefined;
  checkClusterUrl(option === undefined ? variables[name] : `--${name}`, name, url);
  return url;
}

/** Throws if the URL is not valid. The message omits the URL, which may contain a password. */
export function checkClusterUrl(label: string, name: ClusterPart, url: string): void {
  const fault = faults[name](url);
  if (fault !== undefined) throw usageError(`${label} ${fault}.`, `Expected: ${urlForms[name]}`);
}

function parseReads({ environment }: Invocation): Reads | undefined {
  const given = environment.STORE_READS || undefined;
  const found = readsChoices.find((choice) => choice === given);
  if (given !== undefined && found === undefined)
    throw usageError('STORE_READS must be "usual" or "strict".');
  return found;
}

function incompleteClusterError(missing: ClusterPart, config: ConfiguredLocations | undefined): Error {
  const given = missing === "records" ? "blobs" : "records";
  const hint = `Add --${missing} URL or set ${variables[missing]}: ${urlForms[missing]}`;
  const message = `A cluster needs both records and blobs: "${missing}" is missing.`;
  return config?.[given] === undefined ? usageError(message, hint) : config.fault(given, message, hint);
}

/** Reads the location from the configurations. If there are several, all must name one store. */
async function readConfiguredLocations(invocation: Invocation): Promise<ConfiguredLocations | undefined> {
  const { options, directory } = invocation;
  const given = options.texts("config").map((file) => configPath(invocation, file));
  const files = given.length > 0 ? given : configsIn(directory);
  if (files.length === 0) return undefined;
  const { readStoreLocations } = await import("../../script/config/store-location.ts");
  let first: (ConfiguredLocations & { readonly file: string }) | undefined;
  for (const file of files) {
    const locations = readStoreLocations(file);
    if (locations === undefined) continue;
    for (const key of ["records", "blobs", "reads", "cache", "encryption"] as const) {
      if (first === undefined || locations[key] === undefined) continue;
      if (JSON.stringify(first[key]) === JSON.stringify(locations[key])) continue;
      throw locations.fault(
        key,
        `"${key}" differs from ${basename(first.file)}; files served together must use the same store.`,
      );
    }
    first ??= { ...locations, file };
  }
  return first;
}

const configNames = ["store.toml", "store.json", "store.jsonc"];

function configsIn(directory: string): string[] {
  return configNames.map((name) => join(directory, name)).filter((file) => existsSync(file));
}
