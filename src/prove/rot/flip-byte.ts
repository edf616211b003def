// Damages one byte of a file as a failing disk does; a second call restores it.
import assert from "node:assert/strict";
import { closeSync, openSync, readSync, writeSync } from "node:fs";

export interface ByteFlip {
  readonly path: string;
  readonly offset: number;
  /** The bits to flip. */
  readonly mask: number;
}

export function flipByte({ path, offset, mask }: ByteFlip): void {
  const file = openSync(path, "r+");
  try {
    const byte = Buffer.alloc(1);
    assert.equal(readSync(file, byte, 0, 1, offset), 1, "the file has a byte at the offset");
    byte[0]! ^= mask;
    writeSync(file, byte, 0, 1, offset);
  } finally {
    closeSync(file);
  }
}
