// Parses documents that Store has written: another version may have written them in another form.
import { StoreError } from "./errors.ts";

/** Throws a damage error unless the text is JSON of the expected shape. */
export function parseDocument<T>(text: string, what: string, isExpected: (value: unknown) => value is T): T {
  try {
    const value: unknown = JSON.parse(text);
    if (isExpected(value)) return value;
  } catch {
    // Reported below.
  }
  throw new StoreError("Damaged", {
    detail: `${what} cannot be read: restore it from a backup, or use the version of Store that wrote it.`,
  });
}
