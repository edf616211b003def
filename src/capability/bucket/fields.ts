// Reads fields of the protocol's JSON and checks each by type and limit. An unknown field is refused:
// ignoring a condition of a later version of the protocol could overwrite an object.
import { type Fields, isFields } from "../../model/shape.ts";
import { invalid } from "./errors.ts";

/** Longer texts are refused before the engine sees them. All its own limits are lower. */
const maxTextLength = 64 * 1024;

/** 64-bit numbers are decimal strings; the simulator sends them as numbers. */
const wholeNumber = /^\d{1,20}$/;

export function checkNames(fields: Fields, known: readonly string[], where: string): void {
  for (const name of Object.keys(fields)) {
    if (!known.includes(name)) {
      throw invalid(`The field "${shorten(name)}" of ${where} is unknown to this version of Store.`);
    }
  }
}

export function optionalText(fields: Fields, name: string): string | undefined {
  const value = fields[name];
  if (value === undefined) return undefined;
  if (typeof value !== "string") throw invalid(`The field "${name}" must be a string.`);
  if (value.length > maxTextLength) throw invalid(`The field "${name}" is too long.`);
  return value;
}

export function requiredText(fields: Fields, name: string): string {
  const text = optionalText(fields, name);
  if (text === undefined) throw invalid(`The field "${name}" is missing.`);
  return text;
}

export function optionalFlag(fields: Fields, name: string): boolean {
  const value = fields[name] ?? false;
  if (typeof value !== "boolean") throw invalid(`The field "${name}" must be true or false.`);
  return value;
}

/** Numbers above the safe integers lose precision, which is harmless for limits and ranges. */
export function optionalCount(fields: Fields, name: string): number | undefined {
  const value = fields[name];
  if (value === undefined) return undefined;
  if (typeof value === "string" && wholeNumber.test(value)) return Number(value);
  if (typeof value === "number" && Number.isInteger(value) && value >= 0) return value;
  throw invalid(`The field "${name}" must be a whole number, 0 or more.`);
}

export function requiredCount(fields: Fields, name: string): number {
  const count = optionalCount(fields, name);
  if (count === undefined) throw invalid(`The field "${name}" is missing.`);
  return count;
}

/** Reads milliseconds since the epoch. The runtime sends a time before 1970 as its complement. */
export function optionalTime(fields: Fields, name: string): number | undefined {
  const value = fields[name];
  if (value === undefined) return undefined;
  const isText = typeof value === "string" && wholeNumber.test(value);
  const time = isText ? Number(BigInt.asIntN(64, BigInt(value))) : value;
  if (typeof time === "number" && Number.isInteger(time) && !Number.isNaN(new Date(time).getTime()))
    return time;
  throw invalid(`The field "${name}" must be a time in milliseconds since 1970.`);
}

export function optionalFields(fields: Fields, name: string): Fields | undefined {
  const value = fields[name];
  if (value === undefined) return undefined;
  if (!isFields(value)) throw invalid(`The field "${name}" must be an object.`);
  return value;
}

export function optionalList<T>(
  fields: Fields,
  name: string,
  { max, read }: { readonly max: number; readonly read: (item: unknown) => T },
): readonly T[] | undefined {
  const value = fields[name];
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) throw invalid(`The field "${name}" must be a list.`);
  if (value.length > max) throw invalid(`The field "${name}" has more than ${max} items.`);
  return value.map(read);
}

/** Reads an item of a list that must be an object with no other fields than `known`. */
export function itemFields(item: unknown, known: readonly string[], where: string): Fields {
  if (!isFields(item)) throw invalid(`Each item of ${where} must be an object.`);
  checkNames(item, known, where);
  return item;
}

function shorten(name: string): string {
  return name.length > 40 ? `${name.slice(0, 40)}…` : name;
}
