// Records of the ZIP format (APPNOTE 6.3): headers of stored files whose checksum follows the bytes,
// and the directory at the end. Sizes and offsets that need more than 32 bits use ZIP64.

export interface ZipEntry {
  readonly name: Buffer;
  /** Milliseconds since the epoch. */
  readonly modified: number;
  readonly size: number;
  readonly crc: number;
  /** Position of the local header in the archive. */
  readonly offset: number;
}

const max32 = 0xffff_ffff;
const max16 = 0xffff;
/** Version 4.5 reads ZIP64. */
const versionNeeded = 45;
/** The checksum and sizes follow the bytes; the name is UTF-8. */
const flags = 0x0808;
const zip64Id = 1;

/** Whether the size of a file needs ZIP64. Known before the file is written. */
function isLarge(size: number): boolean {
  return size >= max32;
}

export function localHeader({ name, modified, size }: Pick<ZipEntry, "name" | "modified" | "size">): Buffer {
  // With this field, readers expect sizes of 64 bits after the bytes.
  const extra = isLarge(size) ? zip64Field([0, 0]) : empty;
  const head = Buffer.alloc(30);
  head.writeUInt32LE(0x04034b50, 0);
  head.writeUInt16LE(versionNeeded, 4);
  head.writeUInt16LE(flags, 6);
  head.writeUInt32LE(dosTime(modified), 10);
  if (isLarge(size)) head.fill(0xff, 18, 26);
  head.writeUInt16LE(name.length, 26);
  head.writeUInt16LE(extra.length, 28);
  return Buffer.concat([head, name, extra]);
}

export function dataDescriptor({ crc, size }: Pick<ZipEntry, "crc" | "size">): Buffer {
  const width = isLarge(size) ? 8 : 4;
  const bytes = Buffer.alloc(8 + 2 * width);
  bytes.writeUInt32LE(0x08074b50, 0);
  bytes.writeUInt32LE(crc, 4);
  for (const at of [8, 8 + width]) {
    if (width === 8) bytes.writeBigUInt64LE(BigInt(size), at);
    else bytes.writeUInt32LE(size, at);
  }
  return bytes;
}

export function directoryHeader({ name, modified, size, crc, offset }: ZipEntry): Buffer {
  const large = [...(isLarge(size) ? [size, size] : []), ...(isLarge(offset) ? [offset] : [])];
  const extra = large.length === 0 ? empty : zip64Field(large);
  const head = Buffer.alloc(46);
  head.writeUInt32LE(0x02014b50, 0);
  // Made on Unix, so that the attributes below are permissions.
  head.writeUInt16LE((3 << 8) | versionNeeded, 4);
  head.writeUInt16LE(versionNeeded, 6);
  head.writeUInt16LE(flags, 8);
  head.writeUInt32LE(dosTime(modified), 12);
  head.writeUInt32LE(crc, 16);
  head.writeUInt32LE(Math.min(size, max32), 20);
  head.writeUInt32LE(Math.min(size, max32), 24);
  head.writeUInt16LE(name.length, 28);
  head.writeUInt16LE(extra.length, 30);
  const isFolder = name.at(-1) === 0x2f;
  head.writeUInt32LE(((isFolder ? 0o040755 : 0o100644) << 16) >>> 0, 38);
  head.writeUInt32LE(Math.min(offset, max32), 42);
  return Buffer.concat([head, name, extra]);
}

/** The records after the directory, which begins at `offset` and has `size` bytes. */
export function directoryEnd(count: number, size: number, offset: number): Buffer {
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(Math.min(count, max16), 8);
  end.writeUInt16LE(Math.min(count, max16), 10);
  end.writeUInt32LE(Math.min(size, max32), 12);
  end.writeUInt32LE(Math.min(offset, max32), 16);
  if (count < max16 && !isLarge(size) && !isLarge(offset)) return end;
  const large = Buffer.alloc(76);
  large.writeUInt32LE(0x06064b50, 0);
  large.writeBigUInt64LE(44n, 4);
  large.writeUInt16LE(versionNeeded, 12);
  large.writeUInt16LE(versionNeeded, 14);
  for (const [at, value] of [
    [24, count],
    [32, count],
    [40, size],
    [48, offset],
  ] as const)
    large.writeBigUInt64LE(BigInt(value), at);
  // The locator of the record above.
  large.writeUInt32LE(0x07064b50, 56);
  large.writeBigUInt64LE(BigInt(offset + size), 64);
  large.writeUInt32LE(1, 72);
  return Buffer.concat([large, end]);
}

const empty = Buffer.alloc(0);

function zip64Field(values: readonly number[]): Buffer {
  const field = Buffer.alloc(4 + 8 * values.length);
  field.writeUInt16LE(zip64Id, 0);
  field.writeUInt16LE(8 * values.length, 2);
  for (const [i, value] of values.entries()) field.writeBigUInt64LE(BigInt(value), 4 + 8 * i);
  return field;
}

/** Date and time with a precision of 2 seconds, in UTC; the format begins in 1980. */
function dosTime(milliseconds: number): number {
  const date = new Date(Math.max(milliseconds, Date.UTC(1980, 0, 1)));
  const day = ((date.getUTCFullYear() - 1980) << 9) | ((date.getUTCMonth() + 1) << 5) | date.getUTCDate();
  const time = (date.getUTCHours() << 11) | (date.getUTCMinutes() << 5) | (date.getUTCSeconds() >> 1);
  return ((day << 16) | time) >>> 0;
}
