// Changes on their way to whoever commits, as bytes. Copied as objects, each costs both sides more than all the rest
// of their work on it: so the put of a small object, which most changes are, is laid out field by field. All others
// are as the serializer writes them.
import { deserialize, serialize } from "node:v8";
import type { WireChange, WireMutation, WireObject } from "./changes.ts";

const kinds = { other: 0, smallPut: 1 } as const;

/** A put of one object beside its record, on no condition. */
interface SmallPut extends WireObject {
  readonly inline: Uint8Array;
}

const lengthBytes = 4;
/** Kind, the object's size, and the lengths of key, version, record and body. */
const smallPutBytes = 1 + 8 + 4 * lengthBytes;
const otherBytes = 1 + lengthBytes;

export function packChanges(changes: readonly WireChange[]): Buffer<ArrayBuffer> {
  const parts = changes.map((change) => smallPut(change) ?? serialize(change));
  let size = 0;
  for (const part of parts) size += "kind" in part ? bytesOf(part) : otherBytes + part.length;
  // Of its own memory, so that it can be handed to another thread as it is.
  const packed = Buffer.allocUnsafeSlow(size);
  let at = 0;
  for (const part of parts)
    at = "kind" in part ? writeSmallPut(packed, part, at) : writeOther(packed, part, at);
  return packed;
}

export function unpackChanges(packed: Uint8Array): WireChange[] {
  const bytes = Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength);
  const changes: WireChange[] = [];
  for (let at = 0; at < bytes.length; ) {
    const isSmallPut = bytes[at] === kinds.smallPut;
    at = isSmallPut ? readSmallPut(bytes, at + 1, changes) : readOther(bytes, at + 1, changes);
  }
  return changes;
}

function smallPut({ checks, mutations, frees }: WireChange): SmallPut | undefined {
  const [only] = mutations;
  const isOne = mutations.length === 1 && checks.length === 0 && !frees;
  return isOne && isSmallPut(only!) ? only : undefined;
}

function isSmallPut(mutation: WireMutation): mutation is SmallPut {
  return mutation.kind === "put object" && mutation.inline !== undefined;
}

function bytesOf({ key, version, record, inline }: SmallPut): number {
  return smallPutBytes + key.length + version.length + Buffer.byteLength(record) + inline.length;
}

function writeSmallPut(packed: Buffer, put: SmallPut, start: number): number {
  const { key, version, size, record, inline } = put;
  packed[start] = kinds.smallPut;
  packed.writeDoubleLE(size, start + 1);
  const lengths = start + 1 + 8;
  let at = start + smallPutBytes;
  packed.writeUInt32LE(key.length, lengths);
  packed.set(key, at);
  at += key.length;
  packed.writeUInt32LE(packed.write(version, at, "latin1"), lengths + lengthBytes);
  at += version.length;
  const recordBytes = packed.write(record, at);
  packed.writeUInt32LE(recordBytes, lengths + 2 * lengthBytes);
  at += recordBytes;
  packed.writeUInt32LE(inline.length, lengths + 3 * lengthBytes);
  packed.set(inline, at);
  return at + inline.length;
}

function readSmallPut(bytes: Buffer, start: number, changes: WireChange[]): number {
  const length = (index: number) => bytes.readUInt32LE(start + 8 + index * lengthBytes);
  const keyAt = start + 8 + 4 * lengthBytes;
  const versionAt = keyAt + length(0);
  const recordAt = versionAt + length(1);
  const inlineAt = recordAt + length(2);
  const end = inlineAt + length(3);
  const put: SmallPut = {
    kind: "put object",
    key: bytes.subarray(keyAt, versionAt),
    version: bytes.toString("latin1", versionAt, recordAt),
    size: bytes.readDoubleLE(start),
    record: bytes.toString("utf8", recordAt, inlineAt),
    inline: bytes.subarray(inlineAt, end),
    blob: undefined,
    stored: undefined,
    manifest: undefined,
  };
  changes.push({ checks: [], mutations: [put], frees: false });
  return end;
}

function writeOther(packed: Buffer, change: Uint8Array, start: number): number {
  packed[start] = kinds.other;
  packed.writeUInt32LE(change.length, start + 1);
  packed.set(change, start + otherBytes);
  return start + otherBytes + change.length;
}

function readOther(bytes: Buffer, start: number, changes: WireChange[]): number {
  const from = start + lengthBytes;
  const end = from + bytes.readUInt32LE(start);
  changes.push(deserialize(bytes.subarray(from, end)) as WireChange);
  return end;
}
