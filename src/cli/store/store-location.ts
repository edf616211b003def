// Where the store is that a command works on, asked in one order for all commands: options, else the environment, else
// the configuration, else the data directory beside it.
import { existsSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import {
  blobsFault,
  type ClusterLocation,
  type Location,
  placeForms,
  type Reads,
  readsChoices,
  recordsFault,
} from "../../model/location.ts";
import type { ReadPlaces } from "../../script/config/store-location.ts";
import type { Invocation } from "../framework/command.ts";
import { CommandError, usageError } from "../framework/command-error.ts";
import { pathArgument } from "../framework/path-argument.ts";

type Place = "records" | "blobs";

const faults = { records: recordsFault, blobs: blobsFault } as const;
const variables = { data: "STORE_DATA", records: "STORE_RECORDS", blobs: "STORE_BLOBS" } as const;

const dataForms = "a folder or memory:, and a cluster is named by --records URL and --blobs URL";

/** A directory is absolute, or "memory:". */
export async function storeLocation(invocation: Invocation): Promise<Location> {
  const { options } = invocation;
  const data = options.text("data") ?? variable(invocation, "data");
  if (options.text("data") === "") throw usageError("--data needs a folder, but is empty.");
  const isByOption = options.text("records") !== undefined || options.text("blobs") !== undefined;
  if (options.text("data") !== undefined && isByOption) {
    throw usageError(
      "--data names a directory and --records or --blobs a cluster: only one of both can be.",
      ["Leave out --data, or --records and --blobs."],
    );
  }
  const isByVariable = Boolean(variable(invocation, "records") ?? variable(invocation, "blobs"));
  if (data !== undefined && !isByOption) {
    if (options.text("data") === undefined && isByVariable) {
      throw new CommandError("STORE_DATA names a directory and STORE_RECORDS or STORE_BLOBS a cluster.", {
        hint: "Unset what is not meant, or say it with an option.",
      });
    }
    if (data === "memory:") return data;
    const called = options.text("data") === undefined ? variables.data : "--data";
    return pathArgument(invocation, { called, text: data, possible: dataForms });
  }
  const home = homeOf(invocation);
  return (await clusterLocation(invocation)) ?? join(home, ".store");
}

/** The data directory, for what can be done with no other store. */
export async function dataDirectory(invocation: Invocation, instead: readonly string[]): Promise<string> {
  const location = await storeLocation(invocation);
  if (typeof location === "string") return location;
  throw new CommandError(
    `store ${invocation.command} works on a data directory, and the store is a cluster.`,
    {
      hint: instead,
    },
  );
}

/** The folder the default data directory stands in: whether the configuration is in order does not matter. */
function homeOf(invocation: Invocation): string {
  const given = invocation.options.text("config");
  if (given !== undefined) {
    const file = resolve(invocation.directory, given);
    if (!existsSync(file)) throw new CommandError(`There is no configuration "${given}".`);
    return dirname(file);
  }
  // A configuration is found in this folder or not at all.
  return invocation.directory;
}

async function clusterLocation(invocation: Invocation): Promise<ClusterLocation | undefined> {
  const config = await configuredPlaces(invocation);
  const records = placeOf(invocation, "records") ?? config?.records;
  const blobs = placeOf(invocation, "blobs") ?? config?.blobs;
  if (records === undefined && blobs === undefined) return undefined;
  if (records === undefined || blobs === undefined) {
    throw halfGiven(records === undefined ? "records" : "blobs", config);
  }
  const reads = readsOf(invocation) ?? config?.reads;
  return { records, blobs, ...(reads === undefined ? {} : { reads }) };
}

function variable({ environment }: Invocation, name: keyof typeof variables): string | undefined {
  return environment[variables[name]] || undefined;
}

function placeOf(invocation: Invocation, name: Place): string | undefined {
  const option = invocation.options.text(name);
  const place = option ?? variable(invocation, name);
  if (place === undefined) return undefined;
  checkPlace(option === undefined ? variables[name] : `--${name}`, name, place);
  return place;
}

/** What was given is not repeated: it may hold a password. */
export function checkPlace(called: string, name: Place, place: string): void {
  const fault = faults[name](place);
  if (fault !== undefined) throw usageError(`${called} ${fault}.`, `It is ${placeForms[name]}`);
}

function readsOf({ environment }: Invocation): Reads | undefined {
  const given = environment.STORE_READS || undefined;
  const found = readsChoices.find((choice) => choice === given);
  if (given !== undefined && found === undefined)
    throw usageError('STORE_READS must be "usual" or "strict".');
  return found;
}

const meanings = { records: "where its records are", blobs: "where its bytes lie" } as const;

function halfGiven(missing: Place, config: ReadPlaces | undefined): Error {
  const given = missing === "records" ? "blobs" : "records";
  const hint = `Say ${meanings[missing]}, too: --${missing} URL or ${variables[missing]}, ${placeForms[missing]}`;
  const message = `Of a cluster "${given}" is given, but "${missing}" is missing.`;
  return config?.[given] === undefined ? usageError(message, hint) : config.fault(given, message, hint);
}

/** What the configurations say; several that are served together must mean the same store. */
async function configuredPlaces({ options, directory }: Invocation): Promise<ReadPlaces | undefined> {
  const given = options.texts("config").map((file) => resolve(directory, file));
  const files = given.length > 0 ? given : configsIn(directory);
  if (files.length === 0) return undefined;
  const { readPlaces } = await import("../../script/config/store-location.ts");
  let first: (ReadPlaces & { readonly file: string }) | undefined;
  for (const file of files) {
    const places = readPlaces(file);
    if (places === undefined) continue;
    for (const key of ["records", "blobs", "reads"] as const) {
      if (first === undefined || first[key] === places[key] || places[key] === undefined) continue;
      throw places.fault(key, `"${key}" is another one in ${basename(first.file)}, which is served with it.`);
    }
    first ??= { ...places, file };
  }
  return first;
}

const configNames = ["store.toml", "store.json", "store.jsonc"];

function configsIn(directory: string): string[] {
  return configNames.map((name) => join(directory, name)).filter((file) => existsSync(file));
}
