// Operations on objects over the two ports: head, describe, get, put, delete and list. The rules
// they apply are in model/.
import { findFailedClause } from "../model/condition.ts";
import { StoreError } from "../model/errors.ts";
import { checkKey, type Key } from "../model/key.ts";
import { limits } from "../model/limits.ts";
import { decodeCursor, encodeCursor, laterPosition } from "../model/listing.ts";
import type { ObjectRecord } from "../model/object.ts";
import { applicableRange, partRange, resolveRange } from "../model/range.ts";
import type { DeleteMarker } from "../model/version.ts";
import { openBody } from "./bytes/body-reader.ts";
import type { Context } from "./context.ts";
import { deleteObjects } from "./delete.ts";
import { customerDataKey } from "./encryption/customer-keys.ts";
import { openDataKey } from "./encryption/data-keys.ts";
import type { DataKey } from "./encryption/sealed-blocks.ts";
import { withOpenedChecksums } from "./encryption/sealed-checksums.ts";
import type {
  DescribeOptions,
  DescribeOutcome,
  Engine,
  GetOptions,
  GetOutcome,
  ListOptions,
  MissingObject,
} from "./engine.ts";
import { findVersion, isCurrent } from "./find-version.ts";
import { put } from "./put.ts";
import type { Body, ObjectWithBody } from "./records.ts";
import { cancelSourceOnFailure } from "./write-path.ts";

type Objects = Pick<Engine, "head" | "describe" | "get" | "put" | "delete" | "list">;

/** `get` and `put` are not async: an async function that returns a promise waits for it first. */
export function createObjects(context: Context): Objects {
  const { records } = context;
  return {
    async head(bucket, key, options = {}) {
      checkKey(key);
      if (isCurrent(options)) return records.object(bucket, key);
      return (await findVersion(context, bucket, key, options)).found?.record;
    },
    async describe(bucket, key, options = {}) {
      checkKey(key);
      if (options.parts === "omit" && isCurrent(options)) {
        const record = await records.object(bucket, key);
        if (record !== undefined) return toDescribeOutcome(bucket, { record }, options).outcome;
      }
      const { found, marker } = await findVersion(context, bucket, key, options);
      if (found === undefined) return toMissing(marker);
      return toDescribeOutcome(bucket, found, options).outcome;
    },
    get: (bucket, key, options = {}) => get(context, bucket, key, options),
    put(bucket, key, source, options = {}) {
      return cancelSourceOnFailure(source, () => put(context, bucket, key, source, options));
    },
    async delete(bucket, keys, options = {}) {
      return deleteObjects(context, bucket, keys, options);
    },
    async list(bucket, options = {}) {
      return list(context, bucket, options);
    },
  };
}

async function get(context: Context, bucket: string, key: Key, options: GetOptions): Promise<GetOutcome> {
  checkKey(key);
  for (;;) {
    const { found, marker } = await findVersion(context, bucket, key, options);
    if (found === undefined) return toMissing(marker);
    const outcome = await toGetOutcome(context, bucket, found, options);
    if (outcome !== undefined) return outcome;
    // The body was removed while it was being opened, so the object has a new version: read again.
  }
}

function toMissing(marker: DeleteMarker | undefined): MissingObject {
  return marker === undefined ? { outcome: "missing" } : { outcome: "missing", marker };
}

async function toGetOutcome(
  context: Context,
  bucket: string,
  { record, body }: ObjectWithBody,
  options: GetOptions,
): Promise<GetOutcome | undefined> {
  const { outcome, dataKey: customerKey } = toDescribeOutcome(bucket, { record, body }, options);
  if (outcome.outcome !== "found") return outcome;
  const { encryption } = record;
  const found =
    encryption?.masterKey === undefined
      ? customerKey
      : openDataKey(context, encryption, { bucket, key: record.key });
  const dataKey = found instanceof Promise ? await found : found;
  const { record: opened } = outcome;
  const range =
    options.part === undefined
      ? resolveRange(applicableRange(options.range, options.rangeCondition, record), record.size)
      : partRange(outcome.parts, options.part, record.size);
  const { key, version } = record;
  const { records } = context;
  const isReferenced = async () =>
    (await records.object(bucket, key))?.version === version ||
    (await records.version(bucket, key, version)) !== undefined;
  const currentBody = async () => (await records.version(bucket, key, version))?.body;
  const request = { bucket, size: record.size, range, dataKey, isReferenced, currentBody };
  const bytes = await openBody(context, body, request);
  if (bytes === undefined) return undefined;
  // Fields are listed: spreading takes a fifth of a small read.
  if (body.storage !== "parts") return { outcome: "found", record: opened, range, bytes, parts: undefined };
  return {
    outcome: "found",
    record: opened,
    range,
    bytes,
    get parts() {
      return body.parts;
    },
  };
}

/** Checks the condition of a read, then the customer's key. Also returns the data key. */
function toDescribeOutcome(
  bucket: string,
  { record, body }: Pick<ObjectWithBody, "record"> & Partial<ObjectWithBody>,
  { condition, customerKey }: Omit<DescribeOptions, "parts">,
): { readonly outcome: DescribeOutcome; readonly dataKey?: DataKey | undefined } {
  const clause = condition === undefined ? undefined : findFailedClause(condition, record);
  if (clause !== undefined) return { outcome: { outcome: "refused", record, clause } };
  const dataKey = customerDataKey(customerKey, record.encryption, { bucket, key: record.key });
  const opened = withOpenedChecksums(record, dataKey);
  return { outcome: toFound(opened, body), dataKey };
}

/** Most callers do not need the parts, of which an object may have thousands to decode. */
function toFound(record: ObjectRecord, body: Body | undefined): DescribeOutcome {
  if (body?.storage !== "parts") return { outcome: "found", record, parts: undefined };
  return {
    outcome: "found",
    record,
    get parts() {
      return body.parts;
    },
  };
}

async function list(context: Context, bucket: string, options: ListOptions) {
  const { limit = limits.listEntries, prefix = "", delimiter = "", startAfter, cursor, after } = options;
  if (Number.isNaN(limit) || limit < 0) throw new StoreError("InvalidMaxKeys");
  const page = await context.records.objects(bucket, {
    prefix,
    delimiter,
    after: laterPosition(
      laterPosition(cursor === undefined ? undefined : decodeCursor(cursor), after),
      startAfter === undefined ? undefined : { kind: "key", value: startAfter },
    ),
    limit: Math.min(Math.floor(limit), limits.listEntries),
    metadataBytes: options.withMetadata === true ? limits.listMetadataBytes : Number.POSITIVE_INFINITY,
    time: options.time,
  });
  const objects: ObjectRecord[] = [];
  const prefixes: string[] = [];
  for (const entry of page.entries) {
    if ("record" in entry) objects.push(entry.record);
    else prefixes.push(entry.prefix);
  }
  const { next } = page;
  return { objects, prefixes, next, cursor: next === undefined ? undefined : encodeCursor(next) };
}
