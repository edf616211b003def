// Bytes with a checksum behind them, so that damage on disk is told instead of returned. The checksum
// covers the row's own key too: a record that turns up under another key does not pass.
import { crc32 } from "@node-rs/crc32";
import { StoreError } from "../model/errors.ts";

const checksumBytes = 4;

export function withChecksum(key: Uint8Array, bytes: Uint8Array): Uint8Array {
  const checked = new Uint8Array(bytes.length + checksumBytes);
  checked.set(bytes);
  new DataView(checked.buffer).setUint32(bytes.length, checksum(key, bytes));
  return checked;
}

export function verified(key: Uint8Array, checked: Uint8Array, what: string): Uint8Array {
  const bytes = checked.subarray(0, -checksumBytes);
  const view = new DataView(checked.buffer, checked.byteOffset, checked.byteLength);
  if (
    checked.length < checksumBytes ||
    view.getUint32(checked.length - checksumBytes) !== checksum(key, bytes)
  ) {
    throw damaged(what);
  }
  return bytes;
}

export function damaged(what: string): StoreError {
  return new StoreError("InternalError", {
    detail: `The stored data is damaged: ${what} does not match its checksum.`,
  });
}

function checksum(key: Uint8Array, bytes: Uint8Array): number {
  return crc32(bytes, crc32(key));
}
