// Encodes a change as the arguments of store.commit. Keys and inline bodies are sent as bytes in
// one buffer; the JSON refers to them by offset and length.
import { Buffer } from "node:buffer";
import { encodeManifest, encodeObject, encodePart, encodeUpload } from "../../engine/codec/record-codec.ts";
import { encodeVersion } from "../../engine/codec/version-codec.ts";
import { type Body, type Change, type Check, changesObjects, type Mutation } from "../../engine/records.ts";
import type { Protection } from "../../model/bucket.ts";
import { type Key, keyBytes } from "../../model/key.ts";
import { formatRules } from "../../model/settings/rule-list.ts";
import type { Version } from "../../model/version.ts";

export type CommitValues = readonly [
  checks: string,
  mutations: string,
  bytes: Buffer,
  protection: string | null,
];
type ByteSpan = readonly [offset: number, length: number];

export function commitValues({ checks = [], mutations, protection }: Change): CommitValues {
  const buffers: Uint8Array[] = [];
  let length = 0;
  const put = (bytes: Uint8Array): ByteSpan => {
    buffers.push(bytes);
    length += bytes.length;
    return [length - bytes.length, bytes.length];
  };
  const encodedChecks = checks.map((check) => encodeCheck(check, put));
  const encodedMutations = mutations.map((mutation) => encodeMutation(mutation, put));
  return [
    JSON.stringify(encodedChecks),
    JSON.stringify(encodedMutations),
    Buffer.concat(buffers, length),
    mutations.some(changesObjects) ? encodeProtection(protection) : null,
  ];
}

/** Encodes the protection as store.commit encodes that of the bucket: schema/v5-commit.ts. */
function encodeProtection({ versioning, lockRules }: Protection = {}): string {
  return `${encodeSetting(versioning) ?? ""} ${encodeSetting(lockRules) ?? ""}`;
}

function encodeSetting(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value);
}

/** A change that consists of a put of one object. */
export interface SinglePut {
  readonly key: Key;
  /** Expected version of the object. "": the object must not exist. Null: not checked. */
  readonly seen: string | null;
  readonly version: string;
  readonly size: number;
  readonly record: string;
  readonly inline: Uint8Array | null;
  readonly blob: string | null;
  readonly stored: number | null;
  readonly protection: string;
  /** Null if the bucket was never versioned. */
  readonly since: number | null;
  readonly isVersioned: boolean;
}

/** Returns undefined if the change is more than a put of one object. */
export function toSinglePut({ checks = [], mutations, protection }: Change): SinglePut | undefined {
  const [put] = mutations;
  const [check] = checks;
  if (mutations.length !== 1 || put?.kind !== "put object" || put.body.storage === "parts") return undefined;
  const { record, body } = put;
  const { key, version, size } = record;
  if (checks.length > 1 || (check !== undefined && (check.kind !== "object" || check.key !== key)))
    return undefined;
  const isInline = body.storage === "inline";
  return {
    key,
    seen: check === undefined ? null : (check.version ?? ""),
    version,
    size,
    record: encodeObject(record),
    inline: isInline ? body.bytes : null,
    blob: isInline ? null : body.blob.id,
    stored: isInline ? null : body.blob.size,
    protection: encodeProtection(protection),
    since: protection?.versioning === undefined ? null : record.uploaded,
    isVersioned: record.isVersioned === true,
  };
}

function encodeCheck(check: Check, put: (bytes: Uint8Array) => ByteSpan): object {
  if (check.kind === "setting") {
    const { kind, name, value } = check;
    return { kind, name, text: encodeSetting(value) };
  }
  if (check.kind === "version") {
    const { key, version } = check.version;
    return { kind: check.kind, key: put(keyBytes(key)), version, record: encodeVersion(check.version) };
  }
  return { ...check, key: put(keyBytes(check.key)) };
}

function encodeMutation(mutation: Mutation, put: (bytes: Uint8Array) => ByteSpan): object {
  const { kind } = mutation;
  switch (kind) {
    case "put object":
    case "replace body": {
      const { record, body } = mutation;
      return { kind, size: record.size, ...encodeFields(record, put), ...encodeBody(body, put) };
    }
    case "put copy": {
      const { record, of } = mutation;
      return { kind, size: record.size, of, ...encodeFields(record, put) };
    }
    case "put marker":
      return { kind, ...encodeFields(mutation.marker, put) };
    case "delete version":
      return { kind, key: put(keyBytes(mutation.key)), version: mutation.version };
    case "restate object":
      return { kind, ...encodeFields(mutation.record, put) };
    case "delete object":
      return { kind, key: put(keyBytes(mutation.key)) };
    case "put upload": {
      const { key, id, state, due } = mutation.record;
      const record = encodeUpload(mutation.record);
      return { kind, key: put(keyBytes(key)), id, active: state === "active", due, record };
    }
    case "delete upload":
      return { kind, key: put(keyBytes(mutation.key)), id: mutation.id };
    case "put part": {
      const { uploadId: upload, part } = mutation;
      return { kind, upload, number: part.number, blob: part.blob, record: encodePart(part) };
    }
    case "end parts":
      return { kind, upload: mutation.uploadId, taken: mutation.taken };
    case "append event": {
      const { rules, event, ifExists } = mutation;
      const key = ifExists === undefined ? {} : { key: put(keyBytes(ifExists)) };
      // "tell" is the name in the released SQL function: schema/v3-outbox.ts.
      return { kind: "tell", rule: formatRules(rules), event, ...key };
    }
    case "put setting":
      return {
        kind: mutation.name,
        text: encodeSetting(mutation.value),
      };
  }
}

function encodeFields(version: Version, put: (bytes: Uint8Array) => ByteSpan): object {
  return {
    key: put(keyBytes(version.key)),
    version: version.version,
    since: version.uploaded,
    ...(version.isVersioned === true ? { versioned: true } : {}),
    record: encodeVersion(version),
  };
}

function encodeBody(body: Body, put: (bytes: Uint8Array) => ByteSpan): object {
  if (body.storage === "blob") return { blob: body.blob.id, stored: body.blob.size };
  if (body.storage === "parts") return { manifest: encodeManifest(body.parts) };
  return { inline: put(body.bytes) };
}
