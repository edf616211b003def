// Reads fields of a policy's JSON. Errors name the path, such as Statement[0].Principal.AWS.
import { type Fields, isFields } from "../../model/shape.ts";
import { PolicyError } from "./policy.ts";

export const maxListLength = 1000;
const maxTextLength = 2048;

export function readFields(value: unknown, path: string, names: readonly string[]): Fields {
  if (!isFields(value)) throw new PolicyError(`${path} must be an object.`);
  for (const name of Object.keys(value)) {
    if (!names.includes(name))
      throw new PolicyError(`${path} has the unknown field "${shorten(name)}": use ${names.join(", ")}.`);
  }
  return value;
}

export function readText(value: unknown, path: string): string {
  if (typeof value !== "string") throw new PolicyError(`${path} must be a string.`);
  if (value.length > maxTextLength) {
    throw new PolicyError(`${path} has more than ${maxTextLength} characters.`);
  }
  if (!value.isWellFormed()) throw new PolicyError(`${path} is not valid Unicode.`);
  if (value.includes("${"))
    throw new PolicyError(`${path} has a policy variable, "${shorten(value)}": variables are not supported.`);
  return value;
}

/** A single text, or a list of at least one. */
export function readTexts(value: unknown, path: string): readonly string[] {
  if (!Array.isArray(value)) return [readText(value, path)];
  if (value.length === 0) throw new PolicyError(`${path} must not be empty.`);
  if (value.length > maxListLength) throw new PolicyError(`${path} has more than ${maxListLength} values.`);
  return value.map((one, i) => readText(one, `${path}[${i}]`));
}

export function shorten(text: string): string {
  return text.length <= 80 ? text : `${text.slice(0, 77)}...`;
}
