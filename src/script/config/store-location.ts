// Reads only what concerns the whole store: its location as a cluster (`records`, `blobs`, `reads`,
// `cache`) and its `encryption`. Every command needs them, even if the rest of the file has faults.
import { readFileSync } from "node:fs";
import { parseByteSize } from "../../model/names/byte-size.ts";
import {
  type BodyCacheLocation,
  blobsFault,
  cacheDirectoryFault,
  cacheSizeFault,
  type Reads,
  readsChoices,
  recordsFault,
  urlForms,
} from "../../model/names/location.ts";
import { type ConfigError, configError } from "./syntax/error.ts";
import { createFields, type Fields, type Table } from "./syntax/fields.ts";
import { detectKind, readSource } from "./syntax/source.ts";

/** Missing locations may come from command-line options or environment variables. */
export interface StoreLocations {
  readonly records?: string;
  readonly blobs?: string;
  readonly reads?: Reads;
  readonly cache?: BodyCacheLocation;
  /** "always": every new object is encrypted with the store's key. */
  readonly encryption?: "always";
}

export interface ConfiguredLocations extends StoreLocations {
  /** Creates the error for a fault that was found later, positioned at the key. */
  fault(key: keyof StoreLocations, message: string, hint?: string): ConfigError;
}

const faults = { records: recordsFault, blobs: blobsFault } as const;
const examples = {
  records: "postgres://store@db.example.com/store",
  blobs: "file:///mnt/shared/store",
} as const;

export function checkStoreLocations(fields: Fields, top: Table): StoreLocations | undefined {
  const records = checkStoreLocation(fields, top, "records");
  const blobs = checkStoreLocation(fields, top, "blobs");
  const reads = checkReads(fields, top);
  const cache = checkCache(fields, top);
  const encryption = checkEncryption(fields, top);
  if ([records, blobs, reads, cache, encryption].every((value) => value === undefined)) return undefined;
  return {
    ...(records === undefined ? {} : { records }),
    ...(blobs === undefined ? {} : { blobs }),
    ...(reads === undefined ? {} : { reads }),
    ...(cache === undefined ? {} : { cache }),
    ...(encryption === undefined ? {} : { encryption }),
  };
}

function checkStoreLocation(fields: Fields, top: Table, key: "records" | "blobs"): string | undefined {
  const line = fields.line(key, examples[key]);
  const location = fields.string([key], top[key], line);
  if (location === undefined) return undefined;
  const fault = faults[key](location);
  if (fault === undefined) return location;
  const hint = `It is ${urlForms[key]}\nFor example: ${line}`;
  fields.report([key], { message: `"${key}" ${fault}.`, hint });
  return undefined;
}

function checkReads(fields: Fields, top: Table): Reads | undefined {
  const line = fields.line("reads", "strict");
  const reads = fields.string(["reads"], top.reads, line);
  const found = readsChoices.find((choice) => choice === reads);
  if (reads !== undefined && found === undefined) {
    fields.report(["reads"], { message: '"reads" must be "usual" or "strict".', hint: `Write: ${line}` });
  }
  return found;
}

function checkCache(fields: Fields, top: Table): BodyCacheLocation | undefined {
  const isToml = fields.source.format === "toml";
  const example = isToml
    ? 'cache = { directory = "/var/cache/store", size = "100GiB" }'
    : '"cache": { "directory": "/var/cache/store", "size": "100GiB" }';
  const table = fields.table(["cache"], top.cache, example);
  if (table === undefined) return undefined;
  const directory = fields.string(["cache", "directory"], table.directory, example);
  const text = fields.string(["cache", "size"], table.size, example);
  for (const key of ["directory", "size"]) {
    if (table[key] === undefined) fields.missing(["cache", key], `Write: ${example}`);
  }
  if (directory === undefined || text === undefined) return undefined;
  const size = parseByteSize(text) ?? 0;
  const faults = { directory: cacheDirectoryFault(directory), size: cacheSizeFault(size) };
  for (const [key, fault] of Object.entries(faults)) {
    if (fault !== undefined) {
      fields.report(["cache", key], { message: `"cache.${fault}.`, hint: `Write: ${example}` });
    }
  }
  return (faults.directory ?? faults.size) ? undefined : { directory, size };
}

function checkEncryption(fields: Fields, top: Table): "always" | undefined {
  const line = fields.line("encryption", "always");
  const encryption = fields.string(["encryption"], top.encryption, line);
  if (encryption === undefined || encryption === "always") return encryption;
  const hint = `Write: ${line}\nOr remove it: then buckets and requests choose.`;
  fields.report(["encryption"], { message: '"encryption" must be "always".', hint });
  return undefined;
}

/** Undefined when the file sets none of them. */
export function readStoreLocations(file: string): ConfiguredLocations | undefined {
  if (detectKind(file) === "wrangler" || !mayHaveLocations(file)) return undefined;
  const source = readSource(file);
  const fields = createFields(source);
  const { value } = source;
  if (typeof value !== "object" || value === null) return undefined;
  const locations = checkStoreLocations(fields, value as Table);
  if (fields.faults.length > 0) throw configError(source, fields.faults);
  if (locations === undefined) return undefined;
  return {
    ...locations,
    fault: (key, message, hint) =>
      configError(source, [{ span: source.positions.find([key]).value, message, hint }]),
  };
}

/** Searches the text first: most files set no location, so commands need not parse them. */
function mayHaveLocations(file: string): boolean {
  try {
    return /records|blobs|reads|cache|encryption/.test(readFileSync(file, "utf8"));
  } catch {
    return true;
  }
}
