// Encodes records as text: JSON arrays with a format number, and a key to detect misplaced records.
// Text is used because database drivers pass strings several times faster than buffers.
import { Buffer } from "node:buffer";
import { allAlgorithms, checksumLengths, hex, type UploadChecksum } from "../../model/checksums/checksum.ts";
import { StoreError } from "../../model/errors.ts";
import {
  type Checksums,
  type HttpMetadata,
  type Metadata,
  type ObjectRecord,
  type StorageClass,
  storageClasses,
} from "../../model/object.ts";
import type { PartRecord, UploadRecord, UploadState } from "../../model/upload.ts";
import type { BodyPart } from "../records.ts";
import { decodeEncryption, type EncodedEncryption, encodeEncryption } from "./encryption-codec.ts";
import { decodeExtras, type EncodedExtras, encodeExtras } from "./extras-codec.ts";
import { readCommonObject, writeCommonObject } from "./object-record-codec.ts";
import {
  expectCount,
  expectFields,
  expectList,
  expectMember,
  expectText,
  expectTime,
  readStored,
} from "./validate.ts";

const format = 1;

type EncodedMetadata = readonly [
  storageClass: StorageClass,
  http: HttpMetadata | 0,
  custom: readonly [string, string][] | 0,
  encryption: EncodedEncryption | 0,
];
type EncodedChecksums = { -readonly [algorithm in keyof Checksums]: string };
type EncodedObject = readonly [
  format: number,
  key: string,
  version: string,
  size: number,
  uploaded: number,
  etag: string,
  checksums: EncodedChecksums,
  ...EncodedMetadata,
  /** 0 if the object has none and extras follow. */
  checksumParts?: number,
  extras?: EncodedExtras,
];
type EncodedUpload = readonly [
  format: number,
  key: string,
  id: string,
  created: number,
  state: UploadState,
  due: number,
  result: readonly [version: string, etag: string] | 0,
  ...EncodedMetadata,
  /** 0 if the upload has none and extras follow. */
  checksum?: UploadChecksum | 0,
  extras?: EncodedExtras,
];
type EncodedPart = readonly [
  format: number,
  size: number,
  etag: string,
  uploaded: number,
  stored: number,
  checksums?: EncodedChecksums,
];
type EncodedBodyPart = readonly [
  number: number,
  size: number,
  blob: string,
  stored: number,
  checksums?: EncodedChecksums,
];
type EncodedManifest = readonly [format: number, parts: readonly EncodedBodyPart[]];

export function encodeObject(record: ObjectRecord): string {
  return writeCommonObject(record) ?? writeObject(record);
}

function writeObject(record: ObjectRecord): string {
  const { key, version, size, uploaded, etag, checksumParts } = record;
  const body = [size, uploaded, etag, encodeChecksums(record.checksums)] as const;
  const encoded: EncodedObject = [format, key, version, ...body, ...encodeMetadata(record)];
  const extras = encodeExtras(record);
  if (extras !== undefined) return JSON.stringify([...encoded, checksumParts ?? 0, extras]);
  return JSON.stringify(checksumParts === undefined ? encoded : [...encoded, checksumParts]);
}

/** Whether a checksummed record starts with this key, version and size. Faster than decoding it. */
export function beginsAsObject(text: string, key: string, version: string, size: number): boolean {
  return text.startsWith(`[${format},${JSON.stringify(key)},${JSON.stringify(version)},${size},`);
}

export function decodeObject(text: string): ObjectRecord {
  return readCommonObject(text) ?? readStored("the record of an object", () => readObject(text));
}

function readObject(text: string): ObjectRecord {
  const encoded = parse<EncodedObject>(text);
  const [, key, version, size, uploaded, etag, checksums, storageClass, http, custom, encryption] = encoded;
  const checksumParts = encoded[11] === 0 ? undefined : encoded[11];
  const extras = encoded[12];
  expectText(key);
  expectText(version);
  expectText(etag);
  expectCount(size);
  expectTime(uploaded);
  const metadata = decodeMetadata(storageClass, http, custom, encryption);
  // Fields are listed because this runs for every entry of a listing: spreading would double the
  // cost.
  const { httpMetadata, customMetadata } = metadata;
  const record = {
    key,
    version,
    size,
    etag,
    uploaded,
    checksums: decodeChecksums(checksums),
    httpMetadata,
    customMetadata,
    storageClass,
  };
  if (checksumParts === undefined && metadata.encryption === undefined && extras === undefined) return record;
  if (checksumParts !== undefined) expectCount(checksumParts);
  return {
    ...record,
    ...metadata,
    ...(checksumParts === undefined ? {} : { checksumParts }),
    ...decodeExtras(extras),
  };
}

export function encodeUpload(record: UploadRecord): string {
  const { key, id, created, state, due, result, checksum, initiator } = record;
  const ended = result === undefined ? 0 : ([result.version, result.etag] as const);
  const encoded: EncodedUpload = [format, key, id, created, state, due, ended, ...encodeMetadata(record)];
  const common = encodeExtras(record);
  const extras = initiator === undefined ? common : { ...common, by: initiator };
  if (extras !== undefined) return JSON.stringify([...encoded, checksum ?? 0, extras]);
  return JSON.stringify(checksum === undefined ? encoded : [...encoded, checksum]);
}

export function decodeUpload(text: string): UploadRecord {
  return readStored("the record of an upload", () => readUpload(text));
}

function readUpload(text: string): UploadRecord {
  const encoded = parse<EncodedUpload>(text);
  const [, key, id, created, state, due, result, storageClass, http, custom, encryption] = encoded;
  const checksum = encoded[11] === 0 ? undefined : encoded[11];
  const initiator = encoded[12]?.by;
  if (initiator !== undefined) expectText(initiator);
  expectText(key);
  expectText(id);
  expectTime(created);
  expectTime(due);
  expectMember(state, ["active", "completed", "aborted"]);
  if (result !== 0) for (const word of [result[0], result[1]]) expectText(word);
  if (checksum !== undefined) {
    expectMember(checksum.algorithm, allAlgorithms);
    expectMember(checksum.of, ["parts", "bytes"]);
  }
  return {
    key,
    id,
    created,
    state,
    due,
    ...(result === 0 ? {} : { result: { version: result[0], etag: result[1] } }),
    ...decodeMetadata(storageClass, http, custom, encryption),
    ...(checksum === undefined ? {} : { checksum }),
    ...decodeExtras(encoded[12]),
    ...(initiator === undefined ? {} : { initiator }),
  };
}

export function encodePart({ size, etag, uploaded, stored, checksums }: PartRecord): string {
  const encoded: EncodedPart = [format, size, etag, uploaded, stored, ...encodeOptional(checksums)];
  return JSON.stringify(encoded);
}

export function decodePart(number: number, blob: string, text: string): PartRecord {
  return readStored("the record of a part", () => readPart(number, blob, text));
}

function readPart(number: number, blob: string, text: string): PartRecord {
  const [, size, etag, uploaded, stored, checksums] = parse<EncodedPart>(text);
  expectCount(size);
  expectCount(stored);
  expectText(etag);
  expectTime(uploaded);
  return { number, size, etag, uploaded, blob, stored, ...decodeOptional(checksums) };
}

/** Encodes the parts of an object's body. */
export function encodeManifest(parts: readonly BodyPart[]): string {
  return JSON.stringify([format, parts.map(encodeBodyPart)] satisfies EncodedManifest);
}

function encodeBodyPart({ number, size, blob, checksums }: BodyPart): EncodedBodyPart {
  return [number, size, blob.id, blob.size, ...encodeOptional(checksums)];
}

export function decodeManifest(text: string): BodyPart[] {
  return readStored("the list of an object's parts", () => {
    const [, rows] = parse<EncodedManifest>(text);
    expectList(rows);
    return rows.map(readBodyPart);
  });
}

/** Decodes some parts of a manifest: the text of a list without the format. */
export function decodeParts(text: string): BodyPart[] {
  return readStored("the list of an object's parts", () => {
    const rows = JSON.parse(text) as readonly EncodedBodyPart[];
    expectList(rows);
    return rows.map(readBodyPart);
  });
}

function readBodyPart([number, size, id, stored, checksums]: EncodedBodyPart): BodyPart {
  for (const count of [number, size, stored]) expectCount(count);
  expectText(id);
  return { number, size, blob: { id, size: stored }, ...decodeOptional(checksums) };
}

function parse<T extends readonly [number, ...unknown[]]>(text: string): T {
  const encoded = JSON.parse(text) as T;
  expectList(encoded);
  const [storedFormat] = encoded;
  if (storedFormat === format) return encoded;
  expectCount(storedFormat);
  throw new StoreError("Damaged", {
    detail: `The stored data is damaged, or was written by a later version: record format ${storedFormat} is not known.`,
  });
}

function encodeOptional(checksums: Checksums | undefined): [] | [EncodedChecksums] {
  return checksums === undefined ? [] : [encodeChecksums(checksums)];
}

function decodeOptional(encoded: EncodedChecksums | undefined): { checksums?: Checksums } {
  return encoded === undefined ? {} : { checksums: decodeChecksums(encoded) };
}

function encodeChecksums(checksums: Checksums): EncodedChecksums {
  const encoded: EncodedChecksums = {};
  for (const algorithm of allAlgorithms) {
    const value = checksums[algorithm];
    if (value !== undefined) encoded[algorithm] = hex(value);
  }
  return encoded;
}

function decodeChecksums(encoded: EncodedChecksums): Checksums {
  expectFields(encoded, isChecksum);
  const checksums: { -readonly [name in keyof Checksums]: Checksums[name] } = {};
  for (const algorithm in encoded) {
    const value = encoded[algorithm as keyof Checksums]!;
    checksums[algorithm as keyof Checksums] = Buffer.from(value, "hex");
  }
  return checksums;
}

function isChecksum(value: unknown, name: string): boolean {
  const length = checksumLengths[name as keyof typeof checksumLengths];
  return typeof value === "string" && value.length === length * 2;
}

function encodeMetadata(metadata: Metadata): EncodedMetadata {
  const { httpMetadata, customMetadata, storageClass, encryption } = metadata;
  return [
    storageClass,
    Object.keys(httpMetadata).length === 0 ? 0 : httpMetadata,
    customMetadata.size === 0 ? 0 : [...customMetadata],
    encryption === undefined ? 0 : encodeEncryption(encryption),
  ];
}

function decodeMetadata(...[storageClass, http, custom, encryption]: EncodedMetadata): Metadata {
  expectMember(storageClass, storageClasses);
  if (http !== 0) expectFields(http, (value) => typeof value === "string" || Number.isFinite(value));
  if (custom !== 0) for (const [name, value] of custom) for (const text of [name, value]) expectText(text);
  const metadata = {
    httpMetadata: http === 0 ? {} : http,
    customMetadata: custom === 0 ? new Map<string, string>() : new Map(custom),
    storageClass,
  };
  return encryption === 0 ? metadata : { ...metadata, encryption: decodeEncryption(encryption) };
}
