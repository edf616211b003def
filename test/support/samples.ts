// Sample records for tests in which only names and body locations matter.
import { randomBytes } from "node:crypto";
import type { Body, BodyPart, Mutation } from "../../src/engine/records.ts";
import type { ObjectRecord } from "../../src/model/object.ts";
import type { PartRecord, UploadRecord } from "../../src/model/upload.ts";

export const emptyMd5 = "d41d8cd98f00b204e9800998ecf8427e";

export function randomHex(): string {
  return randomBytes(16).toString("hex");
}

export function objectRecord(key: string, fields: Partial<ObjectRecord> = {}): ObjectRecord {
  return {
    key,
    version: randomHex(),
    size: 0,
    etag: emptyMd5,
    uploaded: 1_700_000_000_000,
    checksums: {},
    httpMetadata: {},
    customMetadata: new Map(),
    storageClass: "Standard",
    ...fields,
  };
}

export function uploadRecord(key: string, fields: Partial<UploadRecord> = {}): UploadRecord {
  return {
    key,
    id: randomHex(),
    created: 1_700_000_000_000,
    state: "active",
    due: 1_700_000_000_000 + 7 * 24 * 3600 * 1000,
    httpMetadata: {},
    customMetadata: new Map(),
    storageClass: "Standard",
    ...fields,
  };
}

export function partRecord(number: number, blob: string, fields: Partial<PartRecord> = {}): PartRecord {
  return { number, blob, size: 5, stored: 5, etag: emptyMd5, uploaded: 1_700_000_000_000, ...fields };
}

export function inline(text: string): Body {
  return { storage: "inline", bytes: new TextEncoder().encode(text) };
}

export function inBlob(id: string): Body {
  return { storage: "blob", blob: { id, size: 70_000 } };
}

export function inParts(...ids: string[]): Body {
  return { storage: "parts", parts: ids.map((id, i) => bodyPart(i + 1, id)) };
}

export function bodyPart(number: number, id: string): BodyPart {
  return { number, size: 5, blob: { id, size: 5 } };
}

export function putObject(key: string, body: Body = inline(""), version = randomHex()): Mutation {
  return { kind: "put object", record: objectRecord(key, { version }), body };
}

/**
 * Replaces every Buffer by a plain Uint8Array, because a port may return either, and drops functions,
 * by which a port may find parts.
 */
export function plain<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).filter(([, field]) => typeof field !== "function");
  const isRecord = Object.getPrototypeOf(value) === Object.prototype;
  return structuredClone(isRecord ? (Object.fromEntries(fields) as T) : value);
}
