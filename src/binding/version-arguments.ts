// Converts the arguments that name versions, tags and locks. Invalid arguments throw a TypeError.
import type { VersionOptions } from "../engine/engine.ts";
import type { ObjectLock, Retention } from "../model/lock.ts";
import type { Tags } from "../model/tags.ts";
import { describe, type Fields, optionsArgument, stringField } from "./arguments.ts";

export function versionArgument(options: Fields): string | undefined {
  const version = stringField(options, "version");
  if (version === "") throw new TypeError('"version" must not be empty: pass the version of an object.');
  return version;
}

/** Returns the time of `at` in milliseconds since the epoch. */
export function timeArgument(options: Fields): number | undefined {
  const { at } = options;
  return at === undefined || at === null ? undefined : dateArgument(at, "at");
}

const current: VersionOptions = {};

/** Returns which version a read names: by id, by time, or the current one. */
export function versionOptions(options: Fields): VersionOptions {
  const version = versionArgument(options);
  const time = timeArgument(options);
  if (time === undefined) return version === undefined ? current : { version };
  if (version === undefined) return { time };
  throw new TypeError('"version" and "at" cannot be combined: pass one of them.');
}

/** Unlike in a condition, a number is refused: seconds would select a time in 1970. */
function dateArgument(value: unknown, name: string): number {
  const time = value instanceof Date ? value.getTime() : Number.NaN;
  if (Number.isNaN(time)) throw new TypeError(`"${name}" must be a valid Date, not ${describeDate(value)}.`);
  return time;
}

function describeDate(value: unknown): string {
  return value instanceof Date ? "an invalid one" : describe(value);
}

export function booleanField(options: Fields, name: string): boolean | undefined {
  const value = options[name];
  if (value === undefined || value === null) return undefined;
  return booleanArgument(value, name);
}

export function booleanArgument(value: unknown, name: string): boolean {
  if (typeof value !== "boolean") throw new TypeError(`"${name}" must be a boolean, not ${describe(value)}.`);
  return value;
}

export function tagsField({ tags }: Fields): Tags | undefined {
  return tags === undefined || tags === null ? undefined : tagsArgument(tags);
}

/** Converts values to strings, like custom metadata. The engine checks names, values and number. */
export function tagsArgument(value: unknown): Tags {
  if (typeof value !== "object" || value === null || Symbol.iterator in value) {
    // A Map or an array has no own names: accepting it would remove all tags.
    throw new TypeError(`"tags" must be an object of names and values, not ${describe(value)}.`);
  }
  const given = value as Fields;
  return new Map(Object.keys(given).map((name) => [name, `${given[name] as string}`]));
}

export function lockField(options: Fields): ObjectLock | undefined {
  const { retention: given } = options;
  const retention = given === undefined || given === null ? undefined : retentionArgument(given);
  const hasHold = booleanField(options, "legalHold") === true;
  if (retention === undefined) return hasHold ? { legalHold: true } : undefined;
  return hasHold ? { retention, legalHold: true } : { retention };
}

export function retentionArgument(value: unknown): Retention {
  const { mode, until } = optionsArgument(value, "retention");
  if (mode !== "governance" && mode !== "compliance") {
    throw new TypeError('The "mode" of a retention must be "governance" or "compliance".');
  }
  return { mode, until: dateArgument(until, "until") };
}
