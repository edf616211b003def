// Key-value namespaces stored as objects: each namespace is a bucket, and each key an object whose
// custom metadata contains the key's metadata and expiration. Reads never return expired keys.
import { defaultAccount } from "../../model/bucket.ts";
import { StoreError } from "../../model/errors.ts";
import {
  checkKeyLength,
  checkKeyValueKey,
  checkKeyValueMetadata,
  checkValueLength,
  isExpired,
  isNamespaceName,
  KeyValueError,
  keyValueLimits,
  namespaceBucket,
  namespaceNameRule,
  parseNamespaceBucket,
  resolveExpiration,
} from "../../model/key-value.ts";
import { decodeCursor, encodeCursor } from "../../model/listing.ts";
import type { ObjectRecord } from "../../model/object.ts";
import type { Context } from "../context.ts";
import type { ByteStream, Engine, Source } from "../engine.ts";
import { cancelSourceOnFailure } from "../write-path.ts";
import { removeExpiredKeys, storedExpiration } from "./expiry.ts";
import type { KeyValueListing, KeyValueListOptions, KeyValuePutOptions, KeyValues } from "./key-value.ts";

/** The object and bucket operations that namespaces use. */
export interface KeyValueParts extends Pick<Engine, "get" | "put" | "delete"> {
  deleteBucket(bucket: string): Promise<void>;
}

export function createKeyValues(context: Context, parts: KeyValueParts): KeyValues {
  const { records } = context;

  async function inNamespace<T>(namespace: string, work: (bucket: string) => Promise<T>): Promise<T> {
    try {
      return await work(namespaceBucket(namespace));
    } catch (error) {
      throw namespaceError(error, namespace);
    }
  }

  return {
    async createNamespace(name) {
      checkNamespaceName(name);
      const created = context.now();
      const record = { name: namespaceBucket(name), created, storageClass: "Standard" } as const;
      if (!(await records.createBucket({ ...record, account: defaultAccount }))) {
        throw new StoreError("BucketConflict", { detail: `The namespace "${name}" already exists.` });
      }
      return { name, created };
    },
    async namespace(name) {
      const bucket = isNamespaceName(name) ? await records.bucket(namespaceBucket(name)) : undefined;
      return bucket && { name, created: bucket.created };
    },
    async listNamespaces() {
      return (await records.buckets()).flatMap(({ name: bucket, created }) => {
        const name = parseNamespaceBucket(bucket);
        return name === undefined ? [] : [{ name, created }];
      });
    },
    deleteNamespace: (name) =>
      inNamespace(name, async (bucket) => {
        await removeExpiredKeys(context, bucket);
        await parts.deleteBucket(bucket);
      }),
    totals: (namespace) => inNamespace(namespace, (bucket) => records.totals(bucket)),

    get: (namespace, key) =>
      inNamespace(namespace, async (bucket) => {
        checkKeyValueKey(key);
        const found = await parts.get(bucket, key);
        if (found.outcome !== "found") return undefined;
        const { record, bytes } = found;
        const { customMetadata } = record;
        if (customMetadata.size === 0) return { record, bytes, metadata: undefined, expiration: undefined };
        const expiration = storedExpiration(record);
        if (isExpired(expiration, context.now())) {
          await bytes.cancel();
          return undefined;
        }
        return { record, bytes, metadata: customMetadata.get("metadata"), expiration };
      }),
    put: (namespace, key, source, options = {}) =>
      inNamespace(namespace, async (bucket) => {
        const customMetadata = await cancelSourceOnFailure(source, async () => {
          checkKeyValueKey(key);
          checkValueLength(source.length ?? 0);
          return storedMetadata(context, options);
        });
        await parts.put(bucket, key, limitLength(source), { customMetadata });
      }),
    delete: (namespace, keys) =>
      inNamespace(namespace, async (bucket) => {
        for (const key of keys) checkKeyValueKey(key);
        await parts.delete(bucket, keys);
      }),
    list: (namespace, options = {}) => inNamespace(namespace, (bucket) => list(context, bucket, options)),
  };
}

function checkNamespaceName(name: string): void {
  if (isNamespaceName(name)) return;
  throw new StoreError("InvalidBucketName", {
    detail: `${JSON.stringify(name)} cannot be the name of a namespace: it is ${namespaceNameRule}.`,
  });
}

/** Replaces the bucket's name in an error with the name of the namespace. */
function namespaceError(error: unknown, namespace: string): unknown {
  if (!(error instanceof StoreError)) return error;
  const { reason, action } = error;
  const shown = JSON.stringify(namespace);
  if (reason === "NoSuchBucket") {
    return new StoreError(reason, { action, detail: `There is no key-value namespace ${shown}.` });
  }
  if (reason !== "BucketNotEmpty") return error;
  return new StoreError(reason, { action, detail: `The key-value namespace ${shown} is not empty.` });
}

const noMetadata: ReadonlyMap<string, string> = new Map();

function storedMetadata(context: Context, options: KeyValuePutOptions): ReadonlyMap<string, string> {
  const expiration = resolveExpiration(options, context.now());
  const { metadata } = options;
  if (metadata !== undefined) checkKeyValueMetadata(metadata);
  if (expiration === undefined && metadata === undefined) return noMetadata;
  const stored = new Map<string, string>();
  if (expiration !== undefined) stored.set("expiration", String(expiration));
  if (metadata !== undefined) stored.set("metadata", metadata);
  return stored;
}

/** Makes the stream fail if it exceeds the maximum size of a value. */
function limitLength(source: Source): Source {
  if (source instanceof Uint8Array || source.length !== undefined) return source;
  const stream: ByteStream = {
    length: undefined,
    async *chunks() {
      let length = 0;
      for await (const chunk of source.chunks()) {
        length += chunk.length;
        checkValueLength(length);
        yield chunk;
      }
    },
    cancel: (reason) => source.cancel(reason),
  };
  return stream;
}

/** A listing that finds only expired keys stops after this many pages and returns a cursor. */
const maxPages = 20;

async function list(
  context: Context,
  bucket: string,
  { prefix = "", limit = keyValueLimits.listKeys, cursor }: KeyValueListOptions,
): Promise<KeyValueListing> {
  checkLimit(limit);
  checkKeyLength(prefix);
  const now = context.now();
  const live: ObjectRecord[] = [];
  let after = cursor === undefined ? undefined : decodeCursor(cursor);
  for (let page = 0; page < maxPages && live.length <= limit; page++) {
    // Request one more than the limit: a cursor is needed only if another unexpired key follows.
    const { entries, next } = await context.records.objects(bucket, {
      prefix,
      delimiter: "",
      after,
      limit: page === 0 ? limit + 1 : keyValueLimits.listKeys,
      metadataBytes: Number.POSITIVE_INFINITY,
    });
    for (const entry of entries) {
      if ("record" in entry && !isExpired(storedExpiration(entry.record), now)) live.push(entry.record);
    }
    after = next;
    if (next === undefined) break;
  }
  if (live.length > limit) after = { kind: "key", value: live[limit - 1]!.key };
  const keys = live.slice(0, limit).map((record) => ({
    name: record.key,
    expiration: storedExpiration(record),
    metadata: record.customMetadata.get("metadata"),
  }));
  return { keys, cursor: after === undefined ? undefined : encodeCursor(after) };
}

function checkLimit(limit: number): void {
  const { listKeys } = keyValueLimits;
  if (!(limit >= 1)) {
    throw new KeyValueError(
      400,
      `Invalid key_count_limit of ${limit}. Please specify an integer greater than 0.`,
    );
  }
  if (limit > listKeys) {
    throw new KeyValueError(
      400,
      `Invalid key_count_limit of ${limit}. Please specify an integer less than ${listKeys}.`,
    );
  }
}
