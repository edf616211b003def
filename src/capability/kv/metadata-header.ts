// Metadata of a key as a header: JSON text, which Node represents with one character per byte.
import { KeyValueError } from "../../model/key-value.ts";

/** Returns the JSON text of the header. The engine checks its length. */
export function parseMetadata(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(header, "latin1"));
    JSON.parse(text);
    return text;
  } catch {
    throw new KeyValueError(400, "The metadata of this request is not valid JSON.");
  }
}

/** Escapes what a header cannot contain. Outside strings, JSON has no such characters but breaks. */
export function formatMetadata(text: string): string {
  return text
    .replace(/[\t\r\n]/g, " ")
    .replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
