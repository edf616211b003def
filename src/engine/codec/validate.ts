// Checks the shape of a stored record when it is decoded. Checksums are already verified; as a
// second defense, text that is not a record is reported as damage and never misread.
import { StoreError } from "../../model/errors.ts";

/** Runs a decoder. Any unexpected error is mapped to a Damaged error. */
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

/** Throws unless the value is a number of bytes or parts: a non-negative integer. */
export function expectCount(value: unknown): void {
  expect(Number.isSafeInteger(value) && (value as number) >= 0, "a count");
}

/** Throws unless the value is a time in milliseconds since the epoch, which may be negative. */
export function expectTime(value: unknown): void {
  expect(Number.isFinite(value), "a time");
}

export function expectMember(value: unknown, allowed: readonly unknown[]): void {
  expect(allowed.includes(value), "a known word");
}

export function expectList(value: unknown): asserts value is readonly unknown[] {
  expect(Array.isArray(value), "a list");
}

/** Throws unless the value is an object whose fields all satisfy `isValue`. */
export function expectFields(value: unknown, isValue: (field: unknown, name: string) => boolean): void {
  expect(typeof value === "object" && value !== null && !Array.isArray(value), "fields");
  for (const name in value) expect(isValue((value as Record<string, unknown>)[name], name), name);
}
