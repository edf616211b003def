// Parses sizes on the command line, such as 500, 10GB or 1.5TiB.
import { parseByteSize } from "../../model/names/byte-size.ts";
import { usageError } from "./command-error.ts";

/** Returns bytes. GB is a thousand MB, GiB is 1024 MiB. */
export function parseSize(name: string, text: string): number {
  const bytes = parseByteSize(text);
  if (bytes !== undefined) return bytes;
  throw usageError(`${name} needs a size, not "${text}".`, "Write a size such as 500MB, 10GB or 1.5TiB.");
}

export function parseWholeNumber(name: string, text: string): number {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(value)) return value;
  throw usageError(`${name} needs a whole number, not "${text}".`);
}
