// Records as bytes, for adapters that keep them in a database. Compact, without JSON on the hot path, and
// led by a format number so that a later layout can tell an earlier one.
import { checksumAlgorithms, checksumLengths } from "../model/checksum.ts";
import { invariant } from "../model/errors.ts";
import { metadataBytes } from "../model/metadata.ts";
import { type Checksums, type Metadata, type ObjectRecord, storageClasses } from "../model/object.ts";
import type { PartRecord, UploadRecord, UploadState } from "../model/upload.ts";
import { ByteReader, ByteWriter } from "./byte-fields.ts";
import type { BodyPart } from "./records.ts";

const format = 1;

/** Where the weight of the metadata stands, so that a scan can count it without decoding. */
const weightOffset = 1;

export function encodeObject(record: ObjectRecord): Uint8Array {
  const out = new ByteWriter();
  out.u8(format);
  out.u32(metadataBytes(record));
  out.hex(record.version, 16);
  out.f64(record.size);
  out.f64(record.uploaded);
  out.text(record.etag);
  writeChecksums(out, record.checksums);
  writeMetadata(out, record);
  return out.finish();
}

export function decodeObject(key: string, bytes: Uint8Array): ObjectRecord {
  const input = new ByteReader(bytes);
  checkFormat(input);
  input.u32();
  const version = input.hex(16);
  const size = input.f64();
  const uploaded = input.f64();
  const etag = input.text();
  const checksums = readChecksums(input);
  const metadata = readMetadata(input);
  return { key, version, size, etag, uploaded, checksums, ...metadata };
}

/** The metadata weight of an encoded object. */
export function encodedWeight(bytes: Uint8Array): number {
  return new DataView(bytes.buffer, bytes.byteOffset).getUint32(weightOffset);
}

const states: readonly UploadState[] = ["active", "completed", "aborted"];

export function encodeUpload(record: UploadRecord): Uint8Array {
  const out = new ByteWriter();
  out.u8(format);
  out.f64(record.created);
  out.u8(states.indexOf(record.state));
  out.f64(record.due);
  out.text(record.result?.version ?? "");
  out.text(record.result?.etag ?? "");
  writeMetadata(out, record);
  return out.finish();
}

export function decodeUpload(key: string, id: string, bytes: Uint8Array): UploadRecord {
  const input = new ByteReader(bytes);
  checkFormat(input);
  const created = input.f64();
  const state = states[input.u8()];
  invariant(state !== undefined, `upload ${id} has a known state`);
  const due = input.f64();
  const version = input.text();
  const etag = input.text();
  const metadata = readMetadata(input);
  return {
    key,
    id,
    created,
    state,
    due,
    ...(version === "" ? {} : { result: { version, etag } }),
    ...metadata,
  };
}

export function encodePart(part: PartRecord): Uint8Array {
  const out = new ByteWriter();
  out.u8(format);
  out.f64(part.size);
  out.text(part.etag);
  out.f64(part.uploaded);
  out.f64(part.stored);
  return out.finish();
}

export function decodePart(number: number, blob: string, bytes: Uint8Array): PartRecord {
  const input = new ByteReader(bytes);
  checkFormat(input);
  const size = input.f64();
  const etag = input.text();
  const uploaded = input.f64();
  return { number, size, etag, uploaded, blob, stored: input.f64() };
}

/** The parts an object is made of. */
export function encodeManifest(parts: readonly BodyPart[]): Uint8Array {
  const out = new ByteWriter();
  out.u8(format);
  out.u32(parts.length);
  for (const { number, size, blob } of parts) {
    out.u32(number);
    out.f64(size);
    out.f64(blob.size);
    out.text(blob.id);
  }
  return out.finish();
}

export function decodeManifest(bytes: Uint8Array): BodyPart[] {
  const input = new ByteReader(bytes);
  checkFormat(input);
  return Array.from({ length: input.u32() }, () => {
    const number = input.u32();
    const size = input.f64();
    const stored = input.f64();
    return { number, size, blob: { id: input.text(), size: stored } };
  });
}

function checkFormat(input: ByteReader): void {
  const found = input.u8();
  invariant(found === format, `record format ${found} is known`);
}

function writeChecksums(out: ByteWriter, checksums: Checksums): void {
  const present = checksumAlgorithms.filter((algorithm) => checksums[algorithm] !== undefined);
  out.u8(present.length);
  for (const algorithm of present) {
    out.u8(checksumAlgorithms.indexOf(algorithm));
    out.bytes(checksums[algorithm]!);
  }
}

function readChecksums(input: ByteReader): Checksums {
  const checksums: { -readonly [name in keyof Checksums]: Checksums[name] } = {};
  for (let count = input.u8(); count > 0; count--) {
    const algorithm = checksumAlgorithms[input.u8()];
    invariant(algorithm !== undefined, "a stored checksum has a known algorithm");
    checksums[algorithm] = input.bytes(checksumLengths[algorithm]);
  }
  return checksums;
}

function writeMetadata(
  out: ByteWriter,
  { httpMetadata, customMetadata, storageClass, encryption }: Metadata,
): void {
  out.u8(storageClasses.indexOf(storageClass));
  // Most objects have little metadata, so it may stay readable.
  out.text(Object.keys(httpMetadata).length === 0 ? "" : JSON.stringify(httpMetadata));
  out.text(customMetadata.size === 0 ? "" : JSON.stringify([...customMetadata]));
  out.u8(encryption === undefined ? 0 : 1);
  if (encryption === undefined) return;
  out.hex(encryption.keyMd5, 16);
  out.text(encryption.scope);
  out.u32(encryption.sealedKey.length);
  out.bytes(encryption.sealedKey);
}

function readMetadata(input: ByteReader): Metadata {
  const storageClass = storageClasses[input.u8()];
  invariant(storageClass !== undefined, "a stored storage class is known");
  const http = input.text();
  const custom = input.text();
  const metadata = {
    httpMetadata: http === "" ? {} : (JSON.parse(http) as Metadata["httpMetadata"]),
    customMetadata: new Map<string, string>(custom === "" ? [] : (JSON.parse(custom) as [string, string][])),
    storageClass,
  };
  if (input.u8() === 0) return metadata;
  const keyMd5 = input.hex(16);
  const scope = input.text();
  return { ...metadata, encryption: { keyMd5, scope, sealedKey: input.bytes(input.u32()) } };
}
