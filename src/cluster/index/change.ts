// Encodes a change as the arguments of store.commit. Keys and inline bodies are sent as bytes in
// one buffer; the JSON refers to them by offset and length.
import { encodeManifest, encodeObject, encodePart, encodeUpload } from "../../engine/codec/record-codec.ts";
import type { Body, Change, Check, Mutation } from "../../engine/records.ts";
import { type Key, keyBytes } from "../../model/key.ts";

export type CommitValues = readonly [checks: string, mutations: string, bytes: Buffer];
type ByteSpan = readonly [offset: number, length: number];

export function commitValues({ checks = [], mutations }: Change): CommitValues {
  const buffers: Uint8Array[] = [];
  let length = 0;
  const put = (bytes: Uint8Array): ByteSpan => {
    buffers.push(bytes);
    length += bytes.length;
    return [length - bytes.length, bytes.length];
  };
  const encodedChecks = checks.map((check) => encodeCheck(check, put));
  const encodedMutations = mutations.map((mutation) => encodeMutation(mutation, put));
  return [JSON.stringify(encodedChecks), JSON.stringify(encodedMutations), Buffer.concat(buffers, length)];
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
}

/** Returns undefined if the change is more than a put of one object. */
export function toSinglePut({ checks = [], mutations }: Change): SinglePut | undefined {
  const [put] = mutations;
  const [check] = checks;
  if (mutations.length !== 1 || put?.kind !== "put object" || put.body.storage === "parts") return undefined;
  const { record, body } = put;
  const { key, version, size } = record;
  if (checks.length > 1 || (check !== undefined && (check.kind !== "object" || check.key !== key)))
    return undefined;
  const seen = check === undefined ? null : ((check as Extract<Check, { kind: "object" }>).version ?? "");
  const stored =
    body.storage === "inline"
      ? { inline: body.bytes, blob: null, stored: null }
      : { inline: null, blob: body.blob.id, stored: body.blob.size };
  return { key, seen, version, size, record: encodeObject(record), ...stored };
}

function encodeCheck(check: Check, put: (bytes: Uint8Array) => ByteSpan): object {
  if (check.kind === "setting") {
    const { kind, name, value } = check;
    return { kind, name, text: value === undefined ? null : JSON.stringify(value) };
  }
  return { ...check, key: put(keyBytes(check.key)) };
}

function encodeMutation(mutation: Mutation, put: (bytes: Uint8Array) => ByteSpan): object {
  const { kind } = mutation;
  switch (kind) {
    case "put object": {
      const { record, body } = mutation;
      const { key, version, size } = record;
      const fields = { kind, key: put(keyBytes(key)), version, size, record: encodeObject(record) };
      return { ...fields, ...encodeBody(body, put) };
    }
    case "restate object":
      return { kind, key: put(keyBytes(mutation.record.key)), record: encodeObject(mutation.record) };
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
      const { rule, event, ifExists } = mutation;
      const key = ifExists === undefined ? {} : { key: put(keyBytes(ifExists)) };
      // "tell" is the name in the released SQL function: schema/v3-outbox.ts.
      return { kind: "tell", rule, event, ...key };
    }
    case "put setting":
      return {
        kind: mutation.name,
        text: mutation.value === undefined ? null : JSON.stringify(mutation.value),
      };
  }
}

function encodeBody(body: Body, put: (bytes: Uint8Array) => ByteSpan): object {
  if (body.storage === "blob") return { blob: body.blob.id, stored: body.blob.size };
  if (body.storage === "parts") return { manifest: encodeManifest(body.parts) };
  return { inline: put(body.bytes) };
}
