// What a stored record must look like when it is read back. A checksum has been over it before, so this is the second
// line: text that cannot be a record is told as damage, and never read as something else.
import { StoreError } from "../../model/errors.ts";

/** Runs a reading of a record; whatever stops it is damage. */
export function readStored<T>(what: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (cause instanceof StoreError) throw cause;
    throw new StoreError("Damaged", {
      detail: `The stored data is damaged: ${what} cannot be read.`,
      cause,
    });
  }
}

export class ShapeError extends Error {}

function expect(condition: boolean, what: string): asserts condition {
  if (!condition) throw new ShapeError(what);
}

export function expectText(value: unknown): void {
  expect(typeof value === "string", "text");
}

/** Bytes, parts: whole, and nothing below zero. */
export function expectCount(value: unknown): void {
  expect(Number.isSafeInteger(value) && (value as number) >= 0, "a count");
}

/** Milliseconds since the epoch, before it too. */
export function expectTime(value: unknown): void {
  expect(Number.isFinite(value), "a time");
}

export function expectMember(value: unknown, allowed: readonly unknown[]): void {
  expect(allowed.includes(value), "a known word");
}

export function expectList(value: unknown): asserts value is readonly unknown[] {
  expect(Array.isArray(value), "a list");
}

/** Every value under a name that `isValue` takes. */
export function expectFields(value: unknown, isValue: (field: unknown, name: string) => boolean): void {
  expect(typeof value === "object" && value !== null && !Array.isArray(value), "fields");
  for (const name in value) expect(isValue((value as Record<string, unknown>)[name], name), name);
}
