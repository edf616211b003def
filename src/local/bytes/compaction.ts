// Reclaims the space of removed bodies: moves live bodies out of sparse segments, then removes
// segments without live bodies. Only whole files are removed, so open readers still work.
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
import type { Queries } from "../index/queries/object-queries.ts";
import type { SegmentBlob } from "../index/queries/segment-queries.ts";
import { createSegmentUsage } from "../index/segment-usage.ts";
import { filesIn } from "../recovery/recover.ts";
import type { Relocator } from "./relocate.ts";
import type { SegmentWriter } from "./segment-writer.ts";
import { createSpaceBudget } from "./space-budget.ts";

export interface Compaction {
  /** Called before a body is removed from the records. */
  noteRemoved(blob: string): void;
  /** Takes over a segment of a dead process. Its marker stays until the segment is checked. */
  adopt(bucketId: string, segment: string): void;
  /** Compacts sparse segments; with "touched", only segments with enough recently removed bytes. */
  run(bucket: string, which: "touched" | "all"): Promise<void>;
  /**
   * Returns undefined while the bucket's segments are within their space budget. Otherwise the
   * promise resolves when compaction has reclaimed `bytes`, so that writers never outrun it.
   */
  waitForSpace(bucketId: string, bytes: number): Promise<void> | undefined;
  /** Called before bytes are written into the bucket's segments. */
  noteWritten(bucketId: string, bytes: number): void;
}

export interface CompactionOptions {
  readonly layout: Layout;
  readonly buckets: Buckets;
  readonly storedBytes: (size: number) => number;
  /** Maximum size of a segment. */
  readonly fileBytes: number;
  /** Whether a backup has leased the bucket, so that its bodies must stay. */
  readonly isLeased: (paths: BucketPaths) => boolean;
  /** The segment writer of this process for the bucket, if there is one. */
  readonly findWriter: (bucketId: string) => SegmentWriter | undefined;
  /** The name of this process, which is part of the names of adopted markers. */
  readonly processName: string;
  readonly relocator: Relocator;
  readonly reserve: Pick<Reserve, "release">;
  /** Called with the name of a removed segment. */
  readonly onRemoved: (segment: string) => void;
}

/**
 * Segments with a smaller share of live bytes are compacted. With 0.4 instead of 0.5, all segments
 * still take less than twice their live bytes, and compaction moves a third fewer bodies.
 */
const maxLiveShare = { touched: 0.4, all: 0.5, overBudget: 0.75, short: 0.9 } as const;
/** Maximum number of segments counted in one "all" run. */
const maxSegmentsPerPass = 64;

export function createCompaction(options: CompactionOptions): Compaction {
  const { layout, buckets, fileBytes, reserve, isLeased, findWriter, relocator } = options;
  /** A segment is counted for the first time when this many of its bytes were removed. */
  const firstDue = fileBytes / 32;
  /** The segment being written is sealed when this many of its bytes were removed. */
  const sealedBytes = fileBytes / 2;
  const usage = createSegmentUsage(layout);
  const budget = createSpaceBudget(usage, fileBytes);
  let lastRun: Promise<unknown> = Promise.resolve();
  /** Names of the markers of adopted segments. */
  const adoptedMarkers = new Set<string>();
  /** By bucket id: the last segment that the previous "all" run counted. */
  const passPositions = new Map<string, string>();

  const storedBytes = (id: string) => options.storedBytes(segmentBlobSize(parseBlobId(id)));

  const bucketSegments = usage.bucketSegments;

  /** Returns blobs of the segment that are being removed but still have a record. */
  function findRemoving(bucketId: string, name: string, living: readonly SegmentBlob[]): Set<string> {
    const removing = bucketSegments(bucketId).get(name)?.removing ?? new Set<string>();
    return new Set(living.map(({ id }) => id).filter((id) => removing.has(id)));
  }

  /** Returns the number of reclaimed bytes. */
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
    const isBody = ({ id, key }: SegmentBlob) =>
      key !== undefined && read((queries) => queries.isBody(key, id));
    if (live > 0) await relocator.moveAll(bucketId, path, living, isBody);
    // A backup that leased the bucket during the move may still read the bodies in this segment.
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
    options.onRemoved(name);
    bucketSegments(bucketId).delete(name);
    usage.change(bucketId, { total: -(size ?? 0), live: -live });
    return (size ?? 0) - live;
  }

  /** Whether to move bodies. On a nearly full disk, raises the limit and may use the reserve. */
  function isWorthMoving(live: number, size: number, maxShare: number): boolean {
    const free = freeBytes();
    if (live >= size * (isShort(free) ? maxLiveShare.short : maxShare)) return false;
    const needed = live + fileBytes / 16;
    if (needed <= free) return true;
    return needed <= free + reserveBytes && reserve.release();
  }

  function freeBytes(): number {
    const { bavail, bsize } = statfsSync(layout.root);
    return bavail * bsize;
  }

  const isShort = (free: number) => free < 4 * fileBytes;

  /** Returns the next segments round-robin: counting a segment reads the ids of all its bodies. */
  function nextPass(bucketId: string, segments: readonly string[]): string[] {
    const from = passPositions.get(bucketId) ?? "";
    const names = segments.filter((name) => name > from).sort();
    const pass = names.slice(0, maxSegmentsPerPass);
    passPositions.set(bucketId, names.length > pass.length ? pass.at(-1)! : "");
    return pass;
  }

  /** Seals the segment being written if it has no live bodies or enough bytes were removed. */
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
    const isUrgent = (name: string) =>
      adoptedMarkers.has(markerName(name, options.processName)) || usage.isNearlyEmpty(bucketId, name);
    // Sort by removed bytes, most first: on a full disk, this makes space to move other bodies.
    const names = [...bucketSegments(bucketId)]
      .filter(([, { removedBytes, due }]) => removedBytes >= due)
      .sort(([, first], [, second]) => second.removedBytes - first.removedBytes)
      .map(([name]) => name);
    if (which === "touched")
      return budget.isAmple(bucketId) && !isShort(freeBytes()) ? names.filter(isUrgent) : names;
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
    // Skip segments that a process still writes into, or that have bodies about to be committed.
    const { open } = bucketPaths(layout, bucketId);
    const markers = filesIn(open).filter((marker) => !adoptedMarkers.has(marker));
    for (const name of names) {
      if (markers.some((marker) => marker.startsWith(name))) continue;
      const marker = markerName(name, options.processName);
      const share = adoptedMarkers.has(marker) ? maxLiveShare.all : maxShare;
      budget.throttleIfExceeded(bucketId);
      try {
        budget.admit(bucketId, await compactSegment(bucket, bucketId, name, share));
        if (adoptedMarkers.delete(marker)) rmSync(join(open, marker), { force: true });
      } catch (error) {
        if (isMissing(error)) continue;
        if (!(error instanceof StoreError)) throw error;
        // Without space to move bodies, segments without live bodies can still be removed. A
        // damaged segment stays, and `verify` reports it.
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
      const emptiest = usage.emptiest(bucketId, budget.maxBytes(bucketId));
      await compactSegments(bucket, bucketId, emptiest, maxLiveShare.overBudget);
    } finally {
      budget.release(bucketId);
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
      // One run at a time: two concurrent runs would move the same bodies.
      const current = lastRun.then(() => runNow(bucket, which));
      lastRun = current.catch(() => {});
      return current;
    },
    adopt(bucketId, segment) {
      adoptedMarkers.add(markerName(segment, options.processName));
      bucketSegments(bucketId).set(segment, { removedBytes: 0, due: 0, removing: new Set() });
    },
    noteWritten: (bucketId, bytes) => usage.change(bucketId, { total: bytes, live: bytes }),
    waitForSpace: budget.wait,
  };
}
