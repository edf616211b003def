// Parses sizes on the command line, such as 500, 10GB or 1.5TiB.
import { usageError } from "./command-error.ts";

const shape = /^(\d+(?:\.\d{1,3})?) ?([kmgtp]i?)?b?$/i;
const powers = ["k", "m", "g", "t", "p"];

/** Returns bytes. GB is a thousand MB, GiB is 1024 MiB. */
export function parseSize(name: string, text: string): number {
  const [, number, unit = ""] = shape.exec(text.trim()) ?? [];
  const power = powers.indexOf(unit.charAt(0).toLowerCase()) + 1;
  const bytes = Math.round(Number(number) * (unit.length === 2 ? 1024 : 1000) ** power);
  if (number !== undefined && Number.isSafeInteger(bytes)) return bytes;
  throw usageError(`${name} needs a size, not "${text}".`, "Write a size such as 500MB, 10GB or 1.5TiB.");
}

export function parseWholeNumber(name: string, text: string): number {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(value)) return value;
  throw usageError(`${name} needs a whole number, not "${text}".`);
}
