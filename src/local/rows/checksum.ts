// Appends checksums to records and bytes and verifies them, so that damaged data is never returned.
import { Buffer } from "node:buffer";
import { crc32 } from "@node-rs/crc32";
import { StoreError } from "../../model/errors.ts";

const checksumBytes = 4;
const checksumDigits = 8;

/** Returns the text followed by its checksum in hex. */
export function withTextChecksum(text: string, context = ""): string {
  return text + textChecksum(text, context);
}

function textChecksum(text: string, context: string): string {
  const start = context === "" ? 0 : crc32(context);
  return crc32(text, start).toString(16).padStart(checksumDigits, "0");
}

/** Returns the text without its checksum, which also covers `context`: other columns of the row. */
export function verifyText(checked: unknown, what: string, context = ""): string {
  // A column of a damaged row may have any type.
  if (typeof checked !== "string") throw damagedError(what);
  const text = checked.slice(0, -checksumDigits);
  // Compared as text: parsed as a number, a hex digit damaged into upper case would be accepted.
  if (!checked.endsWith(textChecksum(text, context))) throw damagedError(what);
  return text;
}

/** Checksum context of an object's record: the columns that locate its blob. */
export function blobContext(blob: unknown, stored: unknown): string {
  return blob === null || blob === undefined ? "" : `${String(blob)} ${String(stored)}`;
}

export function partContext(uploadId: string, number: number, blob: string): string {
  return `${uploadId} ${number} ${blob}`;
}

/** Appends a checksum that also covers the version, so that another object's body is refused. */
export function withChecksum(version: string, bytes: Uint8Array): Uint8Array {
  const checked = Buffer.allocUnsafe(bytes.length + checksumBytes);
  checked.set(bytes);
  checked.writeUInt32BE(crc32(bytes, crc32(version)), bytes.length);
  return checked;
}

export function verifyBytes(version: string, checked: unknown, what: string): Uint8Array {
  if (!(checked instanceof Uint8Array) || checked.length < checksumBytes) throw damagedError(what);
  const bytes = checked.subarray(0, -checksumBytes);
  const view = new DataView(checked.buffer, checked.byteOffset, checked.byteLength);
  if (view.getUint32(bytes.length) !== crc32(bytes, crc32(version))) throw damagedError(what);
  return bytes;
}

export function damagedError(what: string): StoreError {
  return new StoreError("Damaged", {
    detail: `The stored data is damaged: ${what} does not match its checksum.`,
  });
}
