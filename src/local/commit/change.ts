// Changes in encoded form: created on the serving thread, applied by the writer thread.
import { encodeManifest, encodeObject, encodePart, encodeUpload } from "../../engine/codec/record-codec.ts";
import { encodeVersion } from "../../engine/codec/version-codec.ts";
import type { Body, Change, Check, Mutation } from "../../engine/records.ts";
import type { Protection, SettingName } from "../../model/bucket.ts";
import { keyBytes } from "../../model/key.ts";
import { formatRules } from "../../model/settings/rule-list.ts";
import { noSetting } from "../index/schema.ts";
import { blobContext, partContext, withChecksum, withTextChecksum } from "../rows/checksum.ts";
import { settingText } from "../rows/checksummed-rows.ts";

export type WireCheck =
  | { readonly kind: "object"; readonly key: Uint8Array; readonly version: string | undefined }
  /** Holds if this version exists and its record has this text. */
  | { readonly kind: "version"; readonly key: Uint8Array; readonly version: string; readonly text: string }
  | {
      readonly kind: "upload";
      readonly key: Uint8Array;
      readonly id: string;
      readonly revision: number | undefined;
    }
  | { readonly kind: "setting"; readonly name: SettingName; readonly text: string };

export interface WireObject {
  readonly kind: "put object" | "restate object" | "replace body";
  readonly key: Uint8Array;
  readonly version: string;
  readonly size: number;
  readonly record: string;
  readonly inline: Uint8Array | undefined;
  readonly blob: string | undefined;
  readonly stored: number | undefined;
  readonly manifest: string | undefined;
}

/** The record's checksum covers no location: that of the body is known only at the commit. */
export interface WireCopy {
  readonly kind: "put copy";
  readonly key: Uint8Array;
  readonly version: string;
  readonly size: number;
  readonly record: string;
  /** Id of the version whose body is shared. */
  readonly of: string;
}

export interface WireMarker {
  readonly kind: "put marker";
  readonly key: Uint8Array;
  readonly version: string;
  readonly record: string;
}

/** The stored texts of the settings that decide what a write may remove. */
export type WireProtection = { readonly [name in keyof Protection]-?: string };

export type WireMutation =
  | WireObject
  | WireCopy
  | WireMarker
  | { readonly kind: "delete version"; readonly key: Uint8Array; readonly version: string }
  | { readonly kind: "delete object"; readonly key: Uint8Array }
  | {
      readonly kind: "put upload";
      readonly key: Uint8Array;
      readonly id: string;
      readonly active: boolean;
      readonly due: number;
      readonly record: string;
    }
  | { readonly kind: "delete upload"; readonly key: Uint8Array; readonly id: string }
  | {
      readonly kind: "put part";
      readonly uploadId: string;
      readonly number: number;
      readonly blob: string;
      readonly record: string;
    }
  | { readonly kind: "end parts"; readonly uploadId: string; readonly taken: readonly number[] }
  | { readonly kind: "put setting"; readonly name: SettingName; readonly text: string }
  | {
      readonly kind: "add event";
      /** The list of rules that wait for the event: model/settings/rule-list.ts. */
      readonly rule: string;
      readonly event: string;
      /** If set, the event is added only if an object with this key exists. */
      readonly ifExists: Uint8Array | undefined;
    }
  /** Moves a body to another blob. Has no effect if no version of the key has it by the commit. */
  | { readonly kind: "move body"; readonly key: Uint8Array; readonly from: string; readonly to: string }
  /** Without a rule, the events are removed for all rules. */
  | { readonly kind: "ack events"; readonly rule: string | undefined; readonly entries: readonly number[] }
  | { readonly kind: "ack garbage"; readonly entries: readonly number[]; readonly blobs: readonly string[] };

export interface WireChange {
  readonly checks: readonly WireCheck[];
  readonly mutations: readonly WireMutation[];
  /** Undefined: the bucket has neither versions nor lock rules. */
  readonly protection: WireProtection | undefined;
  /** Whether the change only frees space. If so, it may use the space reserve on a full disk. */
  readonly onlyFreesSpace: boolean;
}

export function wireChange(change: Change): WireChange {
  const mutations = change.mutations.map(wireMutation);
  return {
    checks: (change.checks ?? []).map(wireCheck),
    mutations,
    protection: wireProtection(change.protection),
    // The event of a delete takes less space than the delete frees, so it counts as freeing space. All
    // other events come with a mutation that takes space.
    onlyFreesSpace: change.mutations.every((mutation) => freesSpace(mutation) || isEvent(mutation)),
  };
}

function wireProtection(protection: Protection | undefined): WireProtection | undefined {
  const { versioning, lockRules } = protection ?? {};
  if (versioning === undefined && lockRules === undefined) return undefined;
  return {
    versioning: wireSetting("versioning", versioning),
    lockRules: wireSetting("lockRules", lockRules),
  };
}

/** The protection of a bucket that was never versioned and has no lock rules. */
export const noProtection: WireProtection = {
  versioning: noSetting("versioning"),
  lockRules: noSetting("lockRules"),
};

/** A change that is independent of the bucket's protection and uses the reserve on a full disk. */
function freeingChange(mutation: WireMutation): WireChange {
  return { checks: [], mutations: [mutation], protection: undefined, onlyFreesSpace: true };
}

function isEvent({ kind }: Mutation): boolean {
  return kind === "append event";
}

export function ackEventsChange(rule: string | undefined, entries: readonly number[]): WireChange {
  return freeingChange({ kind: "ack events", rule, entries });
}

export function ackGarbageChange(entries: readonly number[], blobs: readonly string[]): WireChange {
  return freeingChange({ kind: "ack garbage", entries, blobs });
}

/** Counts as freeing space, because the segment that the body leaves is removed afterwards. */
export function moveBodyChange(key: Uint8Array, from: string, to: string): WireChange {
  return freeingChange({ kind: "move body", key, from, to });
}

function freesSpace(mutation: Mutation): boolean {
  return (
    mutation.kind === "delete object" ||
    mutation.kind === "delete version" ||
    mutation.kind === "delete upload" ||
    (mutation.kind === "put upload" && mutation.record.state === "aborted") ||
    (mutation.kind === "end parts" && mutation.taken.length === 0)
  );
}

function wireCheck(check: Check): WireCheck {
  if (check.kind === "setting")
    return { kind: "setting", name: check.name, text: wireSetting(check.name, check.value) };
  if (check.kind === "version") {
    const { key, version } = check.version;
    return { kind: "version", key: keyBytes(key), version, text: encodeVersion(check.version) };
  }
  const key = keyBytes(check.key);
  if (check.kind === "object") return { kind: "object", key, version: check.version };
  return { kind: "upload", key, id: check.id, revision: check.revision };
}

function wireMutation(mutation: Mutation): WireMutation {
  switch (mutation.kind) {
    case "put object":
    case "restate object":
    case "replace body": {
      const { kind, record, body } = mutation;
      const { key, version, size } = record;
      const encodedBody = wireBody(body, version);
      const context = blobContext(encodedBody.blob, encodedBody.stored);
      const checked = withTextChecksum(encodeObject(record), context);
      return { kind, key: keyBytes(key), version, size, record: checked, ...encodedBody };
    }
    case "put copy": {
      const { kind, record, of } = mutation;
      const { key, version, size } = record;
      return { kind, key: keyBytes(key), version, size, record: withTextChecksum(encodeObject(record)), of };
    }
    case "put marker": {
      const { kind, marker } = mutation;
      const { key, version } = marker;
      return { kind, key: keyBytes(key), version, record: withTextChecksum(encodeVersion(marker)) };
    }
    case "delete version":
      return { kind: "delete version", key: keyBytes(mutation.key), version: mutation.version };
    case "delete object":
      return { kind: "delete object", key: keyBytes(mutation.key) };
    case "put upload": {
      const { record } = mutation;
      const { key, id, state, due } = record;
      const checked = withTextChecksum(encodeUpload(record));
      return { kind: "put upload", key: keyBytes(key), id, active: state === "active", due, record: checked };
    }
    case "delete upload":
      return { kind: "delete upload", key: keyBytes(mutation.key), id: mutation.id };
    case "put part": {
      const { uploadId, part } = mutation;
      const record = withTextChecksum(encodePart(part), partContext(uploadId, part.number, part.blob));
      return { kind: "put part", uploadId, number: part.number, blob: part.blob, record };
    }
    case "end parts":
      return mutation;
    case "append event": {
      const { rules, event, ifExists: key } = mutation;
      const rule = formatRules(rules);
      const ifExists = key === undefined ? undefined : keyBytes(key);
      return { kind: "add event", rule, event: withTextChecksum(event, rule), ifExists };
    }
    case "put setting": {
      const { name, value } = mutation;
      return { kind: "put setting", name, text: wireSetting(name, value) };
    }
  }
}

function wireSetting(name: SettingName, value: unknown): string {
  return value === undefined ? noSetting(name) : settingText(name, JSON.stringify(value));
}

function wireBody(body: Body, version: string): Pick<WireObject, "inline" | "blob" | "stored" | "manifest"> {
  const none = { inline: undefined, blob: undefined, stored: undefined, manifest: undefined };
  if (body.storage === "blob") return { ...none, blob: body.blob.id, stored: body.blob.size };
  if (body.storage === "parts")
    return { ...none, manifest: withTextChecksum(version + encodeManifest(body.parts)) };
  return { ...none, inline: body.bytes.length === 0 ? body.bytes : withChecksum(version, body.bytes) };
}

/** Returns all blobs that the change references for the first time. */
export function referencedBlobs(change: Change): string[] {
  return change.mutations.flatMap((mutation) => {
    if (mutation.kind === "put part") return [mutation.part.blob];
    if (mutation.kind === "put object" && mutation.body.storage === "blob") return [mutation.body.blob.id];
    if (mutation.kind === "replace body") return bodyBlobs(mutation.body);
    return [];
  });
}

function bodyBlobs(body: Body): string[] {
  if (body.storage === "inline") return [];
  return body.storage === "blob" ? [body.blob.id] : body.parts.map(({ blob }) => blob.id);
}
