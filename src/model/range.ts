// Byte ranges: requested in three forms, returned as offset and length (spec 2.6).
import { StoreError } from "./errors.ts";

export type RangeRequest =
  | { readonly offset?: number; readonly length?: number }
  | { readonly suffix: number };

/** The range of the returned bytes, always inside the object. */
export interface ByteRange {
  readonly offset: number;
  readonly length: number;
}

/**
 * The version that a client resumes (If-Range, RFC 9110 13.1.5): its etag, or its time of upload in whole
 * seconds. With neither, no version matches.
 */
export interface RangeCondition {
  readonly etag?: string;
  readonly uploaded?: number;
}

/** Returns the range to read; undefined, the whole object, if the condition names another version. */
export function applicableRange(
  range: RangeRequest | undefined,
  condition: RangeCondition | undefined,
  { etag, uploaded }: { readonly etag: string; readonly uploaded: number },
): RangeRequest | undefined {
  if (condition === undefined) return range;
  const isSame = condition.etag === etag || condition.uploaded === Math.floor(uploaded / 1000) * 1000;
  return isSame ? range : undefined;
}

/** Truncates the requested range to the object's size. Refuses an empty result. */
export function resolveRange(request: RangeRequest | undefined, size: number): ByteRange {
  if (request === undefined) return { offset: 0, length: size };
  const range = "suffix" in request ? resolveSuffix(request.suffix, size) : resolveSpan(request, size);
  // Huge numbers can make the length NaN.
  if (!(range.length > 0)) throw new StoreError("InvalidRange", { objectSize: size });
  return range;
}

function resolveSuffix(suffix: number, size: number): ByteRange {
  const length = Math.min(suffix, size);
  return { offset: size - length, length };
}

function resolveSpan(
  request: { readonly offset?: number; readonly length?: number },
  size: number,
): ByteRange {
  const offset = request.offset ?? 0;
  return { offset, length: Math.min(request.length ?? Number.POSITIVE_INFINITY, size - offset) };
}

/** Returns the range of a part. An object put in one request has one part. */
export function partRange(
  parts: readonly { readonly size: number }[] | undefined,
  number: number,
  size: number,
): ByteRange {
  if (parts === undefined && number === 1) return { offset: 0, length: size };
  const part = parts?.[number - 1];
  if (parts === undefined || part === undefined) throw new StoreError("InvalidPartNumber");
  let offset = 0;
  for (let index = 0; index < number - 1; index++) offset += parts[index]!.size;
  return { offset, length: part.size };
}
