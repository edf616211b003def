// Finds the segments of a body that overlap a range: the whole body of a blob, or parts. The offsets
// of parts are kept as long as the adapter caches the list, so that a range of a body of 10,000 parts
// costs as much as one of ten.
import type { ByteRange } from "../../model/range.ts";
import type { StoredBlob } from "../blobs.ts";

export interface Segment {
  readonly number: number;
  readonly size: number;
  readonly blob: StoredBlob;
}

export interface FoundSegments {
  readonly segments: readonly Segment[];
  /** Offset of the first found segment in the body. */
  readonly offset: number;
  /** First segment of the body. */
  readonly first: Segment;
}

/** The offset after each segment, by list. */
const knownEnds = new WeakMap<readonly Segment[], Float64Array>();

/** Calls `check` for every segment of the list, once as long as the list is cached. */
export function findSegments(
  list: readonly Segment[],
  { offset, length }: ByteRange,
  check: (segment: Segment) => void,
): FoundSegments {
  const first = list[0]!;
  if (list.length === 1) {
    check(first);
    return { segments: list, offset: 0, first };
  }
  const ends = knownEnds.get(list) ?? sumSizes(list, check);
  knownEnds.set(list, ends);
  const from = countUpTo(ends, offset);
  const to = countUpTo(ends, offset + length - 1);
  const segments = list.slice(from, to + 1);
  return { segments, offset: from === 0 ? 0 : ends[from - 1]!, first };
}

function sumSizes(list: readonly Segment[], check: (segment: Segment) => void): Float64Array {
  const ends = new Float64Array(list.length);
  let end = 0;
  for (const [index, segment] of list.entries()) {
    check(segment);
    end += segment.size;
    ends[index] = end;
  }
  return ends;
}

/** Returns the number of segments that end at the offset or before it, by binary search. */
function countUpTo(ends: Float64Array, offset: number): number {
  let low = 0;
  let high = ends.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (ends[middle]! <= offset) low = middle + 1;
    else high = middle;
  }
  return low;
}
