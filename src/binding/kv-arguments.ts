// Converts arguments of key-value methods to arguments of the engine.
import { Buffer } from "node:buffer";
import { ReadableStream } from "node:stream/web";
import type { Source } from "../engine/engine.ts";
import type { KeyValueListOptions, KeyValuePutOptions } from "../engine/key-value/key-value.ts";
import type { StoreKvValueType } from "../kv-types.ts";
import { KeyValueError, keyValueLimits } from "../model/key-value.ts";
import { type Fields, optionsArgument, stringArgument, toBytes } from "./arguments.ts";
import { toSource } from "./values.ts";

/** Replaces lone surrogates by U+FFFD, as in values: they have no UTF-8 form. */
export function textArgument(value: unknown, name: string): string {
  const text = typeof value === "string" ? value : stringArgument(value, name);
  return text.isWellFormed() ? text : text.toWellFormed();
}

/** Checks the key of a single operation. For a bulk get, the engine checks the keys. */
export function kvKeyArgument(value: unknown): string {
  const key = textArgument(value, "key");
  if (key === "") throw new TypeError("Key name cannot be empty.");
  if (key === "." || key === "..") throw new TypeError(`"${key}" is not allowed as a key name.`);
  return key;
}

/** Returns the requested type without a check: single and bulk gets support different types. */
export function getOptions(options: unknown): string {
  if (options === undefined || options === null) return "text";
  if (typeof options === "string") return options;
  const given = optionsArgument(options);
  const cacheTtl = integerField(given, "cacheTtl");
  if (cacheTtl !== undefined && cacheTtl < keyValueLimits.minCacheTtl) {
    throw new KeyValueError(
      400,
      `Invalid cache_ttl of ${cacheTtl}. Cache TTL must be at least ${keyValueLimits.minCacheTtl}.`,
    );
  }
  return given.type === undefined ? "text" : textArgument(given.type, "type");
}

export function checkType(type: string): StoreKvValueType {
  if (type === "text" || type === "json" || type === "arrayBuffer" || type === "stream") return type;
  throw new TypeError(
    'Unknown response type. Possible types are "text", "arrayBuffer", "json", and "stream".',
  );
}

/** Converts a value to a source. Refuses objects that would become "[object Object]". */
export function kvSource(value: unknown): Source {
  if (typeof value === "string") return Buffer.from(value);
  if (value instanceof ReadableStream || toBytes(value) !== undefined) return toSource(value, "put");
  if ((typeof value === "object" && value !== null) || typeof value === "function") {
    throw new TypeError(
      "KV put() accepts only strings, ArrayBuffers, ArrayBufferViews, and ReadableStreams as values.",
    );
  }
  return Buffer.from(stringArgument(value, "value"));
}

export function putOptions(options: unknown): KeyValuePutOptions {
  if (options === undefined || options === null) return {};
  const given = optionsArgument(options);
  return {
    expiration: integerField(given, "expiration"),
    expirationTtl: integerField(given, "expirationTtl"),
    metadata: metadataField(given),
  };
}

function metadataField({ metadata }: Fields): string | undefined {
  if (metadata === undefined || metadata === null) return undefined;
  const text = JSON.stringify(metadata) as string | undefined;
  if (text === undefined) throw new TypeError("The metadata must be a value that JSON can represent.");
  return text;
}

export function listOptions(options: unknown): KeyValueListOptions {
  const given = optionsArgument(options);
  const limit = integerField(given, "limit");
  return {
    // The platform treats a limit of 0 or less as the default.
    limit: limit !== undefined && limit > 0 ? limit : undefined,
    prefix: given.prefix === undefined || given.prefix === null ? "" : textArgument(given.prefix, "prefix"),
    // An unset variable often becomes an empty cursor: start at the first page.
    cursor: given.cursor ? textArgument(given.cursor, "cursor") : undefined,
  };
}

/** Converts to an integer like the platform: values that are not finite numbers become 0. */
function integerField(given: Fields, name: string): number | undefined {
  const value = given[name];
  if (value === undefined) return undefined;
  const number = Math.trunc(Number(value));
  return Number.isFinite(number) ? number : 0;
}
