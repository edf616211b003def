// Checks the shape of requests and replies between a process and the process that commits for it.
// Scripts run as the same user and can send anything, so every value is checked before use.
import { settingNames } from "../../model/bucket.ts";
import { storageClasses } from "../../model/object.ts";
import { type Fields, isCount, isFields } from "../../model/shape.ts";
import { isRandomName, isValidBlobId } from "../disk/layout.ts";
import type { WireChange, WireMutation } from "./change.ts";
import { unpackChanges } from "./change-codec.ts";
import type { Job, Reply, Request } from "./messages.ts";

type Check = (value: unknown) => boolean;

const maxGroups = 4096;
const isText: Check = (value) => typeof value === "string";
const isBytes: Check = (value) => value instanceof Uint8Array;
const isNumber: Check = (value) => typeof value === "number" && Number.isFinite(value);
const isBoolean: Check = (value) => typeof value === "boolean";
const isSetting: Check = (value) => settingNames.some((name) => name === value);
const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);
const list =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);

function hasShape(value: unknown, shape: Readonly<Record<string, Check>>): value is Fields {
  return isFields(value) && Object.entries(shape).every(([name, check]) => check(value[name]));
}

/** Whether the value has the shape that its `kind` requires. */
function hasKind(value: unknown, shapes: Readonly<Record<string, Readonly<Record<string, Check>>>>): boolean {
  if (!isFields(value) || typeof value.kind !== "string" || !Object.hasOwn(shapes, value.kind)) return false;
  return hasShape(value, shapes[value.kind]!);
}

/** An id without NUL, which separates it from the key in the existence index. */
const isVersionId: Check = (value) => typeof value === "string" && !value.includes("\0");

const checkShapes = {
  object: { key: isBytes, version: optional(isText) },
  version: { key: isBytes, version: isVersionId, text: isText },
  upload: { key: isBytes, id: isText, revision: optional(isCount) },
  setting: { name: isSetting, text: isText },
};

const objectShape = {
  ...{ key: isBytes, version: isVersionId, size: isCount, record: isText },
  ...{
    inline: optional(isBytes),
    blob: optional(isText),
    stored: optional(isCount),
    manifest: optional(isText),
  },
};

function mutationShapes(bucketId: string) {
  const isBlob: Check = (id) => typeof id === "string" && isValidBlobId({ id }, bucketId);
  return {
    "put object": { ...objectShape, blob: optional(isBlob) },
    "restate object": { ...objectShape, blob: optional(isBlob) },
    "replace body": { ...objectShape, blob: optional(isBlob) },
    "put copy": { key: isBytes, version: isVersionId, size: isCount, record: isText, of: isVersionId },
    "put marker": { key: isBytes, version: isVersionId, record: isText },
    "delete version": { key: isBytes, version: isVersionId },
    "delete object": { key: isBytes },
    "put upload": { key: isBytes, id: isText, active: isBoolean, due: isNumber, record: isText },
    "delete upload": { key: isBytes, id: isText },
    "put part": { uploadId: isText, number: isCount, blob: isBlob, record: isText },
    "end parts": { uploadId: isText, taken: list(isCount) },
    "put setting": { name: isSetting, text: isText },
    "add event": { rule: isText, event: isText, ifExists: optional(isBytes) },
    "move body": { key: isBytes, from: isBlob, to: isBlob },
    "ack events": { rule: optional(isText), entries: list(isCount) },
    "ack garbage": { entries: list(isCount), blobs: list(isBlob) },
  };
}

/** A checked request, with the changes of a commit unpacked. */
export interface ClientRequest {
  readonly request: Exclude<Request, { kind: "start server" | "close" }>;
  readonly changes: readonly (readonly WireChange[])[];
}

/** Throws if the message is not a request that a client may send. */
export function readRequest(message: unknown): ClientRequest {
  const isRequest = hasKind(message, {
    commit: { id: isCount, groups: list((group) => hasShape(group, groupShape)) },
    "create bucket": { id: isCount, bucket: isBucketRecord },
    "delete bucket": { id: isCount, name: isText },
    "put document": { id: isCount, write: (write) => hasShape(write, documentShape) },
    "delete document": { id: isCount, deletion: (deletion) => hasShape(deletion, deletionShape) },
  });
  if (!isRequest) throw new TypeError("a message that is not a request");
  const request = message as ClientRequest["request"];
  if (request.kind !== "commit") return { request, changes: [] };
  if (request.groups.length > maxGroups) throw new TypeError("too many buckets in one commit");
  const changes = request.groups.map(({ bucketId, count, changes }) => {
    const check = (isValid: boolean) => {
      if (!isValid) throw new TypeError("an invalid change");
    };
    const unpacked = unpackChanges(changes, (change) => check(isChange(change, mutationShapes(bucketId))));
    check(unpacked.length === count);
    for (const { mutations } of unpacked) check(mutations.every((one) => isInBucket(one, bucketId)));
    return unpacked;
  });
  return { request, changes };
}

const groupShape = { bucketId: isRandomName as Check, count: isCount, changes: isBytes };
const deletionShape = { kind: isText, name: isText, expectedRevision: optional(isCount) };
const documentShape = { ...deletionShape, text: isText };

/** Checks the values of an unpacked put: its sizes, and that its blob is in the bucket. */
function isInBucket(mutation: WireMutation, bucketId: string): boolean {
  if (mutation.kind !== "put object") return true;
  const { size, stored, blob } = mutation;
  return (
    isCount(size) &&
    (stored === undefined || isCount(stored)) &&
    (blob === undefined || isValidBlobId({ id: blob }, bucketId))
  );
}

const protectionShape = { versioning: isText, lockRules: isText };

function isChange(change: unknown, shapes: ReturnType<typeof mutationShapes>): boolean {
  return hasShape(change, {
    checks: list((check) => hasKind(check, checkShapes)),
    mutations: list((mutation) => hasKind(mutation, shapes)),
    protection: optional((protection) => hasShape(protection, protectionShape)),
    onlyFreesSpace: isBoolean,
  });
}

/** Bucket names are not checked here: the engine checks them, and they never become paths. */
function isBucketRecord(value: unknown): boolean {
  const isClass: Check = (name) => storageClasses.some((other) => other === name);
  return hasShape(value, { name: isText, created: isNumber, storageClass: isClass, account: isText });
}

/** Checks only the id; `isValidResult` checks the result. */
export function isReply(message: unknown): message is Reply {
  return hasShape(message, { id: isCount });
}

/** Whether the result has the shape that this kind of job returns. */
export function isValidResult(job: Job, result: unknown): result is Reply["result"] {
  if (isFailure(result)) return job.kind !== "commit";
  switch (job.kind) {
    case "commit":
      return (
        Array.isArray(result) &&
        result.length === job.groups.length &&
        job.groups.every(({ count }, i) => list(isOutcome)(result[i]) && result[i].length === count)
      );
    case "create bucket":
    case "delete document":
      return isBoolean(result);
    case "delete bucket":
      return result === "deleted" || result === "missing" || result === "not empty";
    case "put document":
      return result === "committed" || result === "conflict";
    case "start server":
    case "close":
      return result === undefined;
  }
}

const outcomes = ["committed", "conflict", "over quota", "no such bucket"] as const;

function isOutcome(value: unknown): boolean {
  return outcomes.some((outcome) => outcome === value) || isFailure(value);
}

function isFailure(value: unknown): boolean {
  const isKind: Check = (kind) => kind === "full" || kind === "failed";
  return hasShape(value, { failure: isKind, message: isText, code: optional(isNumber) });
}
