// Where the store of a script is, when that is a cluster: the keys `records`, `blobs` and `reads`. Every command that
// works on the store asks for them, so they are read by themselves: whether the rest is in order does not matter.
import { readFileSync } from "node:fs";
import { blobsFault, placeForms, type Reads, readsChoices, recordsFault } from "../../model/location.ts";
import { type ConfigError, configError } from "./syntax/error.ts";
import { createFields, type Fields, type Table } from "./syntax/fields.ts";
import { kindOf, readSource } from "./syntax/source.ts";

/** Either of the two may come from elsewhere. */
export interface StorePlaces {
  readonly records?: string;
  readonly blobs?: string;
  readonly reads?: Reads;
}

export interface ReadPlaces extends StorePlaces {
  /** The error for a fault that was found later, at the key. */
  fault(key: keyof StorePlaces, message: string, hint?: string): ConfigError;
}

const faults = { records: recordsFault, blobs: blobsFault } as const;
const examples = {
  records: "postgres://store@db.example.com/store",
  blobs: "file:///mnt/shared/store",
} as const;

export function checkPlaces(fields: Fields, top: Table): StorePlaces | undefined {
  const records = checkPlace(fields, top, "records");
  const blobs = checkPlace(fields, top, "blobs");
  const reads = checkReads(fields, top);
  if (records === undefined && blobs === undefined && reads === undefined) return undefined;
  return {
    ...(records === undefined ? {} : { records }),
    ...(blobs === undefined ? {} : { blobs }),
    ...(reads === undefined ? {} : { reads }),
  };
}

function checkPlace(fields: Fields, top: Table, key: "records" | "blobs"): string | undefined {
  const line = fields.line(key, examples[key]);
  const place = fields.string([key], top[key], line);
  if (place === undefined) return undefined;
  const fault = faults[key](place);
  if (fault === undefined) return place;
  const hint = `It is ${placeForms[key]}\nFor example: ${line}`;
  fields.tell([key], { message: `"${key}" ${fault}.`, hint });
  return undefined;
}

function checkReads(fields: Fields, top: Table): Reads | undefined {
  const line = fields.line("reads", "strict");
  const reads = fields.string(["reads"], top.reads, line);
  const found = readsChoices.find((choice) => choice === reads);
  if (reads !== undefined && found === undefined) {
    fields.tell(["reads"], { message: '"reads" must be "usual" or "strict".', hint: `Write: ${line}` });
  }
  return found;
}

/** What a file says of the store; undefined when it says nothing. */
export function readPlaces(file: string): ReadPlaces | undefined {
  if (kindOf(file) === "wrangler" || !mayHavePlaces(file)) return undefined;
  const source = readSource(file);
  const fields = createFields(source);
  const { value } = source;
  if (typeof value !== "object" || value === null) return undefined;
  const places = checkPlaces(fields, value as Table);
  if (fields.faults.length > 0) throw configError(source, fields.faults);
  if (places === undefined) return undefined;
  return {
    ...places,
    fault: (key, message, hint) =>
      configError(source, [{ span: source.places.find([key]).value, message, hint }]),
  };
}

/** Most files say nothing of it, and most commands need nothing else: so none waits for what reads them. */
function mayHavePlaces(file: string): boolean {
  try {
    return /records|blobs|reads/.test(readFileSync(file, "utf8"));
  } catch {
    return true;
  }
}
