// Gives back the space of bodies that are gone from segments. One that has no living body is removed; of one that is
// half empty the living bodies are moved. Bytes are never taken from under a reader: files are only ever removed whole.
import { rmSync, statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import { isStoreFault, StoreError } from "../../model/errors.ts";
import { isMissing } from "../disk/errors.ts";
import {
  type BucketPaths,
  bucketPaths,
  type Layout,
  markerName,
  parseBlobId,
  segmentBlobSize,
} from "../disk/layout.ts";
import { type Reserve, reserveBytes } from "../disk/space-reserve.ts";
import type { Buckets } from "../index/bucket-handles.ts";
import type { Queries } from "../index/object-queries.ts";
import type { SegmentBlob } from "../index/segment-queries.ts";
import { createSegmentUsage } from "../index/segment-usage.ts";
import { filesIn } from "../recovery/recover.ts";
import type { Relocator } from "./relocate.ts";
import type { SegmentWriter } from "./segment-writer.ts";

export interface Compaction {
  /** A body is about to be forgotten. */
  noteRemoved(blob: string): void;
  /** A dead process was writing into the segment: this one has its marker until it was looked at. */
  adopt(bucketId: string, segment: string): void;
  /** Looks at the segments in which enough has gone since the last look; or at all of them. */
  run(bucket: string, which: "touched" | "all"): Promise<void>;
  /**
   * Undefined while the bucket's segments take little more than what lives in them. Otherwise a new body of so many
   * bytes waits until as many were given back, as long as segments are being emptied: writers never outrun this.
   */
  waitForSpace(bucketId: string, bytes: number): Promise<void> | undefined;
  /** So many bytes are written into the bucket's segments. */
  noteWritten(bucketId: string, bytes: number): void;
}

export interface CompactionOptions {
  readonly layout: Layout;
  readonly buckets: Buckets;
  readonly storedBytes: (size: number) => number;
  /** How large segments become. */
  readonly fileBytes: number;
  /** Whether all bodies of a bucket are held where they are. */
  readonly isLeased: (paths: BucketPaths) => boolean;
  /** What this process writes into the bucket's segments by, if it does. */
  readonly findWriter: (bucketId: string) => SegmentWriter | undefined;
  /** The name of this process, for markers it has inherited. */
  readonly processName: string;
  readonly relocator: Relocator;
  readonly reserve: Pick<Reserve, "release">;
}

interface Throttle {
  readonly waiting: { readonly bytes: number; resume(): void }[];
  /** Bytes given back that nothing has been written for yet. */
  credit: number;
}

/**
 * How much of a segment may live for it to be worth moving. While bodies come and go, those that are left soon go, too:
 * moved at two fifths, all together take less than twice their bytes, for two thirds of the moves.
 */
const maxLiveShare = { touched: 0.4, all: 0.5, overBudget: 0.75, short: 0.9 } as const;
/**
 * All segments together may take twice what lives in them, and a few more. Beyond the first share the emptiest are
 * emptied whatever is left in them, as when all were written at one time; beyond the second, new bodies wait.
 */
const maxSpaceFactor = { compact: 1.7, throttle: 1.8 } as const;
/** How many segments are counted through in one look at all. */
const maxSegmentsPerPass = 64;

export function createCompaction(options: CompactionOptions): Compaction {
  const { layout, buckets, fileBytes, reserve, isLeased, findWriter, relocator } = options;
  /** Of a segment nobody has looked at yet, looked at when so many bytes are gone. */
  const firstDue = fileBytes / 32;
  /** With so many gone from the one that is written into, it is not written into any more. */
  const sealedBytes = fileBytes / 2;
  const usage = createSegmentUsage(layout);
  /** Buckets whose segments take too much, while they are emptied. */
  const throttles = new Map<string, Throttle>();
  let lastRun: Promise<unknown> = Promise.resolve();
  /** By marker. */
  const adoptedMarkers = new Set<string>();
  /** Where the last look at all of a bucket's segments ended. */
  const passPositions = new Map<string, string>();

  const storedBytes = (id: string) => options.storedBytes(segmentBlobSize(parseBlobId(id)));

  const bucketSegments = usage.bucketSegments;

  function bound(bucketId: string, share: number): number {
    return usage.measure(bucketId).live * share + fileBytes;
  }

  /** Before a segment is emptied. */
  function throttleIfOverBudget(bucketId: string): void {
    if (throttles.has(bucketId) || usage.measure(bucketId).total <= bound(bucketId, maxSpaceFactor.throttle))
      return;
    throttles.set(bucketId, { waiting: [], credit: 0 });
  }

  /** After so many bytes were given back: as many may be written. */
  function admit(bucketId: string, bytes: number): void {
    const throttle = throttles.get(bucketId);
    if (throttle === undefined) return;
    throttle.credit += bytes;
    while (throttle.waiting.length > 0 && throttle.credit > 0) {
      const next = throttle.waiting.shift()!;
      throttle.credit -= next.bytes;
      next.resume();
    }
    if (usage.measure(bucketId).total <= bound(bucketId, maxSpaceFactor.throttle)) release(bucketId);
  }

  function release(bucketId: string): void {
    for (const { resume } of throttles.get(bucketId)?.waiting ?? []) resume();
    throttles.delete(bucketId);
  }

  /** Those of its bodies that are being forgotten, and are still known. */
  function findRemoving(bucketId: string, name: string, living: readonly SegmentBlob[]): Set<string> {
    const removing = bucketSegments(bucketId).get(name)?.removing ?? new Set<string>();
    return new Set(living.map(({ id }) => id).filter((id) => removing.has(id)));
  }

  /** How many bytes it has given back. */
  async function compactSegment(
    bucket: string,
    bucketId: string,
    name: string,
    maxShare: number,
  ): Promise<number> {
    const paths = bucketPaths(layout, bucketId);
    const path = join(paths.segments, name);
    const read = <T>(ask: (queries: Queries) => T) => buckets.read(bucket, ask, () => false);
    const size = statSync(path, { throwIfNoEntry: false })?.size;
    const living = size === undefined ? [] : read((queries) => queries.blobsIn(bucketId, name));
    const removing = findRemoving(bucketId, name, living);
    const live = living.reduce((sum, { id }) => sum + (removing.has(id) ? 0 : storedBytes(id)), 0);
    if (size !== undefined && living.length > 0 && !isWorthMoving(live, size, maxShare)) {
      bucketSegments(bucketId).set(name, {
        removedBytes: 0,
        due: size / 16,
        removing,
        counted: { size, live },
      });
      return 0;
    }
    const isBody = ({ id, key }: SegmentBlob) => read((queries) => isCurrentBody(queries, id, key));
    if (live > 0) await relocator.moveAll(bucketId, path, living, isBody);
    // A backup that holds the bucket may have seen it before the move.
    const isEmpty = !isLeased(paths) && !read((queries) => queries.hasBlobsIn(bucketId, name));
    if (!isEmpty) {
      bucketSegments(bucketId).set(name, {
        removedBytes: 0,
        due: 1,
        removing,
        counted: { size: size ?? 0, live: 0 },
      });
      return 0;
    }
    rmSync(path, { force: true });
    bucketSegments(bucketId).delete(name);
    usage.change(bucketId, { total: -(size ?? 0), live: -live });
    return (size ?? 0) - live;
  }

  /** There must be room for what is moved: the reserve's, if need be. Where space is short, less has to be gone. */
  function isWorthMoving(live: number, size: number, maxShare: number): boolean {
    const { bavail, bsize } = statfsSync(layout.root);
    const free = bavail * bsize;
    if (live >= size * (free < 4 * fileBytes ? maxLiveShare.short : maxShare)) return false;
    const needed = live + fileBytes / 16;
    if (needed <= free) return true;
    return needed <= free + reserveBytes && reserve.release();
  }

  /** In turn, when there are many: a look at one reads the names of all its bodies. */
  function nextPass(bucketId: string, segments: readonly string[]): string[] {
    const from = passPositions.get(bucketId) ?? "";
    const names = segments.filter((name) => name > from).sort();
    const pass = names.slice(0, maxSegmentsPerPass);
    passPositions.set(bucketId, names.length > pass.length ? pass.at(-1)! : "");
    return pass;
  }

  /** The one that this process writes into is ended when nothing in it has a name, or half of what it may have is gone. */
  function sealIfSparse(bucket: string, bucketId: string, which: "touched" | "all"): void {
    const writer = findWriter(bucketId);
    const head = writer?.head();
    if (head === undefined) return;
    const use = bucketSegments(bucketId).get(head.name);
    const removedBytes = use?.removedBytes ?? 0;
    const mayBeEmpty = which === "all" || removedBytes >= head.end / 2;
    if (removedBytes < sealedBytes && !(mayBeEmpty && isEmpty(bucket, bucketId, head.name))) return;
    bucketSegments(bucketId).set(head.name, { removedBytes, due: 0, removing: use?.removing ?? new Set() });
    void writer!.seal();
  }

  function isEmpty(bucket: string, bucketId: string, name: string): boolean {
    const has = (queries: Queries) => queries.hasBlobsIn(bucketId, name);
    return !buckets.read(bucket, has, () => false);
  }

  function due(bucket: string, bucketId: string, which: "touched" | "all"): string[] {
    sealIfSparse(bucket, bucketId, which);
    // Those first of which most has gone: on a full disk they make room for the others.
    const names = [...bucketSegments(bucketId)]
      .filter(([, { removedBytes, due }]) => removedBytes >= due)
      .sort(([, first], [, second]) => second.removedBytes - first.removedBytes)
      .map(([name]) => name);
    if (which === "touched") return names;
    const all = filesIn(bucketPaths(layout, bucketId).segments);
    const empty = all.filter((name) => isEmpty(bucket, bucketId, name));
    return [...new Set([...names, ...empty, ...nextPass(bucketId, all)])];
  }

  async function compactSegments(
    bucket: string,
    bucketId: string,
    names: readonly string[],
    maxShare: number,
  ) {
    if (names.length === 0) return;
    // One that somebody still writes into, or is about to name a body in, is left alone.
    const { open } = bucketPaths(layout, bucketId);
    const markers = filesIn(open).filter((marker) => !adoptedMarkers.has(marker));
    for (const name of names) {
      if (markers.some((marker) => marker.startsWith(name))) continue;
      const marker = markerName(name, options.processName);
      const share = adoptedMarkers.has(marker) ? maxLiveShare.all : maxShare;
      throttleIfOverBudget(bucketId);
      try {
        admit(bucketId, await compactSegment(bucket, bucketId, name, share));
        if (adoptedMarkers.delete(marker)) rmSync(join(open, marker), { force: true });
      } catch (error) {
        if (isMissing(error)) continue;
        if (!(error instanceof StoreError)) throw error;
        // Without room to move anything to, what can be removed whole still is; what is damaged stays, and verify tells.
        if (error.reason !== "InsufficientStorage" && !isStoreFault(error)) throw error;
        bucketSegments(bucketId).delete(name);
      }
    }
  }

  async function runNow(bucket: string, which: "touched" | "all"): Promise<void> {
    const { id: bucketId } = buckets.open(bucket).bucket;
    const paths = bucketPaths(layout, bucketId);
    if (isLeased(paths)) return;
    try {
      await compactSegments(bucket, bucketId, due(bucket, bucketId, which), maxLiveShare[which]);
      const emptiest = usage.emptiest(bucketId, bound(bucketId, maxSpaceFactor.compact));
      await compactSegments(bucket, bucketId, emptiest, maxLiveShare.overBudget);
    } finally {
      release(bucketId);
    }
  }

  return {
    noteRemoved(blob) {
      const { bucketId, folder } = parseBlobId(blob);
      const segments = bucketSegments(bucketId);
      const use = segments.get(folder) ?? { removedBytes: 0, due: firstDue, removing: new Set() };
      use.removedBytes += storedBytes(blob);
      use.removing.add(blob);
      usage.change(bucketId, { live: -storedBytes(blob) });
      segments.set(folder, use);
    },
    run(bucket, which) {
      // One at a time: two would move the same bodies.
      const current = lastRun.then(() => runNow(bucket, which));
      lastRun = current.catch(() => {});
      return current;
    },
    adopt(bucketId, segment) {
      adoptedMarkers.add(markerName(segment, options.processName));
      bucketSegments(bucketId).set(segment, { removedBytes: 0, due: 0, removing: new Set() });
    },
    noteWritten: (bucketId, bytes) => usage.change(bucketId, { total: bytes, live: bytes }),
    waitForSpace(bucketId, bytes) {
      const throttle = throttles.get(bucketId);
      return throttle && new Promise((resume) => throttle.waiting.push({ bytes, resume }));
    },
  };
}

function isCurrentBody(queries: Queries, id: string, key: Uint8Array | undefined): boolean {
  return key !== undefined && queries.isCurrentBody(key, id);
}
