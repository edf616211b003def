// Packs changes into bytes, which costs less than a structured clone. The most common change, a put
// of one object, is encoded field by field; other changes are serialized by v8.
import { Buffer } from "node:buffer";
import { deserialize, serialize } from "node:v8";
import type { WireChange, WireMutation, WireObject } from "./change.ts";

/** An unconditional put of one object with an inline body or a blob, without protection. */
interface PlainPut extends WireObject {
  readonly kind: "put object";
  readonly manifest: undefined;
}

const kinds = { other: 0, inlinePut: 1, blobPut: 2 } as const;
const numberBytes = 8;
const lengthBytes = 4;
/** Bytes of two sizes (object, blob) and four lengths (key, version, record, body). */
const plainPutBytes = 2 * numberBytes + 4 * lengthBytes;

export function packChanges(changes: readonly WireChange[]): Buffer<ArrayBuffer> {
  const parts = changes.map((change) => asPlainPut(change) ?? serialize(change));
  let size = 0;
  for (const part of parts) size += 1 + ("kind" in part ? plainPutSize(part) : lengthBytes + part.length);
  // Not allocated from the shared pool, so that the buffer can be transferred to another thread.
  const packed = Buffer.allocUnsafeSlow(size);
  let at = 0;
  for (const part of parts) {
    packed[at] = toKindByte(part);
    at = "kind" in part ? writePlainPut(packed, part, at + 1) : writeOther(packed, part, at + 1);
  }
  return packed;
}

/** Decodes changes. `checkOther` throws if a value deserialized by v8 is not a change. */
export function unpackChanges(packed: Uint8Array, checkOther?: (change: unknown) => void): WireChange[] {
  const bytes = Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength);
  const changes: WireChange[] = [];
  for (let at = 0; at < bytes.length; ) {
    const kind = bytes[at];
    if (kind === undefined || kind > kinds.blobPut) throw new RangeError("a change of an unknown kind");
    const [change, end] = kind === kinds.other ? readOther(bytes, at + 1) : readPlainPut(bytes, at + 1, kind);
    if (end > bytes.length) throw new RangeError("a truncated change");
    if (kind === kinds.other) checkOther?.(change);
    changes.push(change);
    at = end;
  }
  return changes;
}

function asPlainPut({ checks, mutations, protection, onlyFreesSpace }: WireChange): PlainPut | undefined {
  const [only] = mutations;
  const isOne = mutations.length === 1 && checks.length === 0 && protection === undefined && !onlyFreesSpace;
  return isOne && isPlainPut(only!) ? only : undefined;
}

function isPlainPut(mutation: WireMutation): mutation is PlainPut {
  return mutation.kind === "put object" && mutation.manifest === undefined;
}

function toKindByte(part: PlainPut | Uint8Array): number {
  if (!("kind" in part)) return kinds.other;
  return part.blob === undefined ? kinds.inlinePut : kinds.blobPut;
}

function plainPutSize({ key, version, record, inline, blob = "" }: PlainPut): number {
  const body = inline?.length ?? blob.length;
  return plainPutBytes + key.length + version.length + Buffer.byteLength(record) + body;
}

function writePlainPut(packed: Buffer, put: PlainPut, start: number): number {
  const { key, version, size, record, inline, blob = "", stored = 0 } = put;
  packed.writeDoubleLE(size, start);
  packed.writeDoubleLE(stored, start + numberBytes);
  let length = start + 2 * numberBytes;
  let at = start + plainPutBytes;
  const advance = (bytes: number) => {
    packed.writeUInt32LE(bytes, length);
    length += lengthBytes;
    at += bytes;
  };
  packed.set(key, at);
  advance(key.length);
  advance(packed.write(version, at, "latin1"));
  advance(packed.write(record, at));
  if (inline === undefined) advance(packed.write(blob, at, "latin1"));
  else {
    packed.set(inline, at);
    advance(inline.length);
  }
  return at;
}

function readPlainPut(bytes: Buffer, start: number, kind: number | undefined): [WireChange, end: number] {
  const length = (index: number) => bytes.readUInt32LE(start + 2 * numberBytes + index * lengthBytes);
  const keyAt = start + plainPutBytes;
  const versionAt = keyAt + length(0);
  const recordAt = versionAt + length(1);
  const bodyAt = recordAt + length(2);
  const end = bodyAt + length(3);
  const isInline = kind === kinds.inlinePut;
  const put: PlainPut = {
    kind: "put object",
    key: bytes.subarray(keyAt, versionAt),
    version: bytes.toString("latin1", versionAt, recordAt),
    size: bytes.readDoubleLE(start),
    record: bytes.toString("utf8", recordAt, bodyAt),
    inline: isInline ? bytes.subarray(bodyAt, end) : undefined,
    blob: isInline ? undefined : bytes.toString("latin1", bodyAt, end),
    stored: isInline ? undefined : bytes.readDoubleLE(start + numberBytes),
    manifest: undefined,
  };
  return [{ checks: [], mutations: [put], protection: undefined, onlyFreesSpace: false }, end];
}

function writeOther(packed: Buffer, change: Uint8Array, start: number): number {
  packed.writeUInt32LE(change.length, start);
  packed.set(change, start + lengthBytes);
  return start + lengthBytes + change.length;
}

function readOther(bytes: Buffer, start: number): [WireChange, end: number] {
  const from = start + lengthBytes;
  const end = from + bytes.readUInt32LE(start);
  return [deserialize(bytes.subarray(from, end)) as WireChange, end];
}
