// Ranges of bytes: asked for in three ways, answered in one (spec 2.6).
import { StoreError } from "./errors.ts";

export type RangeRequest =
  | { readonly offset?: number; readonly length?: number }
  | { readonly suffix: number };

/** The bytes returned: always inside the object. */
export interface ByteRange {
  readonly offset: number;
  readonly length: number;
}

/** Asking for more than exists gives what exists; asking for nothing at all cannot be satisfied. */
export function resolveRange(request: RangeRequest | undefined, size: number): ByteRange {
  if (request === undefined) return { offset: 0, length: size };
  const range = "suffix" in request ? resolveSuffix(request.suffix, size) : resolveSpan(request, size);
  // Numbers past all counting make a length that is none.
  if (!(range.length > 0)) throw new StoreError("InvalidRange");
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

/** Where a part lies; an object put in one piece is its own first part. */
export function partRange(
  parts: readonly { readonly size: number }[] | undefined,
  number: number,
  size: number,
): ByteRange {
  if (parts === undefined && number === 1) return { offset: 0, length: size };
  const part = parts?.[number - 1];
  if (parts === undefined || part === undefined) throw new StoreError("InvalidPartNumber");
  const offset = parts.slice(0, number - 1).reduce((sum, before) => sum + before.size, 0);
  return { offset, length: part.size };
}
