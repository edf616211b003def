// The existence index: a second table with the key of every row, ordered by a hash, so that one
// damaged page never hides a row in both tables. A key only in this index belongs to a lost row.
import { Buffer } from "node:buffer";
import { crc32 } from "@node-rs/crc32";
import { StoreError } from "../../model/errors.ts";
import type { Database } from "./sqlite.ts";

const kindBytes = {
  object: 0x6f,
  version: 0x76,
  "null version": 0x6e,
  shared: 0x73,
  upload: 0x75,
  part: 0x70,
  blob: 0x62,
  bucket: 0x42,
  document: 0x64,
} as const;

export type ExistenceKind = keyof typeof kindBytes;

const hashBytes = 4;
const prefixBytes = hashBytes + 1;

/** Encodes a key of the index. Only the group is hashed, so the members of a group are adjacent. */
function encodeKey(kind: ExistenceKind, group: Uint8Array, member: Uint8Array = noBytes): Buffer {
  const encoded = Buffer.allocUnsafe(prefixBytes + group.length + member.length);
  encoded[hashBytes] = kindBytes[kind];
  encoded.set(group, prefixBytes);
  encoded.set(member, prefixBytes + group.length);
  encoded.writeUInt32BE(crc32(encoded.subarray(hashBytes, prefixBytes + group.length)));
  return encoded;
}

const noBytes = new Uint8Array();

export const existenceKey = {
  object(key: Uint8Array) {
    // Grouped by the prefix up to the last slash: entries of keys written in order share a page,
    // like their records.
    const end = key.lastIndexOf(slash) + 1;
    return encodeKey("object", key.subarray(0, end), key.subarray(end));
  },
  /** A row of the history. */
  version: (key: Uint8Array, version: string) => encodeVersion(key, Buffer.from(version, "latin1")),
  /** The range of the index keys of a key's history. It contains no other keys. */
  versionsOf: (key: Uint8Array): [from: Buffer, to: Buffer] => [
    encodeVersion(key, noBytes),
    encodeVersion(key, keyEnd),
  ],
  /** The null version of a key, if it is in the history. */
  nullVersion(key: Uint8Array) {
    const end = key.lastIndexOf(slash) + 1;
    return encodeKey("null version", key.subarray(0, end), key.subarray(end));
  },
  shared: (blob: string) => encodeKey("shared", Buffer.from(blob)),
  upload: (key: Uint8Array, id: string) => encodeKey("upload", Buffer.from(`${id}\n`), key),
  part: (uploadId: string, number: number) =>
    encodeKey("part", Buffer.from(`${uploadId}\n`), twoBytes(number)),
  /** The first key after the keys of all parts of an upload. */
  afterParts: (uploadId: string) =>
    encodeKey("part", Buffer.from(`${uploadId}\n`), Buffer.concat([twoBytes(0xffff), nul])),
  blob(id: string) {
    // Grouped by folder, which one process fills file by file, so that its entries share a page.
    const end = id.lastIndexOf(".");
    return encodeKey("blob", Buffer.from(id.slice(0, end)), Buffer.from(id.slice(end)));
  },
  /** The range of the index keys of a segment's blobs. It contains no other keys. */
  blobsIn(bucketId: string, segment: string): [from: Buffer, to: Buffer] {
    const group = Buffer.from(`${bucketId}.${segment}`);
    return [encodeKey("blob", group, Buffer.from(".")), encodeKey("blob", group, Buffer.from("/"))];
  },
  bucket: (name: string) => encodeKey("bucket", Buffer.from(name)),
  document: (kind: string, name: string) => encodeKey("document", Buffer.from(`${kind}\n${name}`)),
} as const;

const slash = 0x2f;
const nul = Buffer.alloc(1);

/** Ends the key of a version: UTF-8 has no such byte, so no other key has this one as its prefix. */
const keyEnd = Uint8Array.of(0xff);

function encodeVersion(key: Uint8Array, version: Uint8Array): Buffer {
  const end = key.lastIndexOf(slash) + 1;
  return encodeKey("version", key.subarray(0, end), Buffer.concat([key.subarray(end), keyEnd, version]));
}

function twoBytes(number: number): Buffer {
  const bytes = Buffer.allocUnsafe(2);
  bytes.writeUInt16BE(number);
  return bytes;
}

export type ExistenceEntry =
  | { readonly kind: "object"; readonly key: Uint8Array }
  | { readonly kind: "version"; readonly key: Uint8Array; readonly version: string }
  | { readonly kind: "null version"; readonly key: Uint8Array }
  | { readonly kind: "shared"; readonly id: string }
  | { readonly kind: "upload"; readonly key: Uint8Array; readonly id: string }
  | { readonly kind: "part"; readonly uploadId: string; readonly number: number }
  | { readonly kind: "blob"; readonly id: string }
  | { readonly kind: "bucket"; readonly name: string }
  | { readonly kind: "document"; readonly documentKind: string; readonly name: string };

/** Returns undefined for a damaged key, which `existenceKey` cannot have made. */
export function parseExistenceKey(encoded: Uint8Array): ExistenceEntry | undefined {
  const kind = (Object.keys(kindBytes) as ExistenceKind[]).find(
    (kind) => kindBytes[kind] === encoded[hashBytes],
  );
  const name = Buffer.from(encoded.subarray(prefixBytes));
  const entry = kind === undefined ? undefined : parseEntry(kind, name);
  if (entry === undefined) return undefined;
  return Buffer.compare(toExistenceKey(entry), encoded) === 0 ? entry : undefined;
}

function parseEntry(kind: ExistenceKind, name: Buffer): ExistenceEntry | undefined {
  // Ids do not contain newlines; keys may.
  const idEnd = name.indexOf(10);
  const id = name.subarray(0, Math.max(0, idEnd)).toString();
  switch (kind) {
    case "object":
      return { kind, key: name };
    case "version": {
      const end = Math.max(0, name.lastIndexOf(keyEnd));
      return { kind, key: name.subarray(0, end), version: name.toString("latin1", end + 1) };
    }
    case "null version":
      return { kind, key: name };
    case "shared":
      return { kind, id: name.toString() };
    case "upload":
      return { kind, key: name.subarray(idEnd + 1), id };
    case "part":
      return name.length === idEnd + 3
        ? { kind, uploadId: id, number: name.readUInt16BE(idEnd + 1) }
        : undefined;
    case "blob":
      return { kind, id: name.toString("latin1") };
    case "bucket":
      return { kind, name: name.toString() };
    case "document": {
      const [documentKind = "", ...rest] = name.toString().split("\n");
      return { kind, documentKind, name: rest.join("\n") };
    }
  }
}

function toExistenceKey(entry: ExistenceEntry): Buffer {
  switch (entry.kind) {
    case "object":
      return existenceKey.object(entry.key);
    case "version":
      return existenceKey.version(entry.key, entry.version);
    case "null version":
      return existenceKey.nullVersion(entry.key);
    case "shared":
      return existenceKey.shared(entry.id);
    case "upload":
      return existenceKey.upload(entry.key, entry.id);
    case "part":
      return existenceKey.part(entry.uploadId, entry.number);
    case "blob":
      return existenceKey.blob(entry.id);
    case "bucket":
      return existenceKey.bucket(entry.name);
    case "document":
      return existenceKey.document(entry.documentKind, entry.name);
  }
}

/** Runs `read` in one snapshot: a commit between two separate statements would look like damage. */
export function inSnapshot<T>(database: Database, read: () => T): T {
  database.exec("BEGIN");
  try {
    return read();
  } finally {
    database.exec("COMMIT");
  }
}

export function lostError(what: string): StoreError {
  return new StoreError("Damaged", {
    detail: `The stored data is damaged: ${what} is missing from the index.`,
  });
}

/** The error for a row that is missing in the existence index: its loss would go unnoticed. */
export function unindexedError(what: string): StoreError {
  return new StoreError("Damaged", {
    detail: `The stored data is damaged: ${what} is missing from the existence index.`,
  });
}
