// Gives back the space of bodies that are gone from segments. One that has no living body is removed; of one that is
// half empty the living bodies are moved. Bytes are never taken from under a reader: files are only ever removed whole.
import { rmSync, statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import { StoreError } from "../../model/errors.ts";
import { isMissing } from "../disk/errors.ts";
import {
  type BucketPaths,
  bucketPaths,
  type Layout,
  markerName,
  placeOf,
  sharedSize,
} from "../disk/layout.ts";
import { type Reserve, reserveBytes } from "../disk/space-reserve.ts";
import type { Buckets } from "../index/bucket-handles.ts";
import type { Queries } from "../index/object-queries.ts";
import type { SegmentBlob } from "../index/segment-queries.ts";
import { createSegmentUsage } from "../index/segment-usage.ts";
import { filesIn } from "../recovery/recover.ts";
import type { Moves } from "./relocate.ts";
import type { Gathering } from "./segment-writer.ts";

export interface Compaction {
  /** A body is about to be forgotten. */
  note(blob: string): void;
  /** A dead process was writing into the segment: this one has its marker until it was looked at. */
  inherit(bucketId: string, segment: string): void;
  /** Looks at the segments in which enough has gone since the last look; or at all of them. */
  run(bucket: string, which: "touched" | "all"): Promise<void>;
  /**
   * Undefined while the bucket's segments take little more than what lives in them. Otherwise a new body of so many
   * bytes waits until as many were given back, as long as segments are being emptied: writers never outrun this.
   */
  keepPace(bucketId: string, bytes: number): Promise<void> | undefined;
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
  readonly isHeld: (paths: BucketPaths) => boolean;
  /** What this process writes into the bucket's segments by, if it does. */
  readonly openGathering: (bucketId: string) => Gathering | undefined;
  /** The name of this process, for markers it has inherited. */
  readonly processName: string;
  readonly moves: Moves;
  readonly reserve: Pick<Reserve, "release">;
}

interface Held {
  readonly waiting: { readonly bytes: number; goOn(): void }[];
  /** Bytes given back that nothing has been written for yet. */
  credit: number;
}

/**
 * How much of a segment may live for it to be worth moving. While bodies come and go, those that are left soon go, too:
 * moved at two fifths, all together take less than twice their bytes, for two thirds of the moves.
 */
const mostLive = { touched: 0.4, all: 0.5, crowded: 0.75, short: 0.9 } as const;
/**
 * All segments together may take twice what lives in them, and a few more. Beyond the first share the emptiest are
 * emptied whatever is left in them, as when all were written at one time; beyond the second, new bodies wait.
 */
const mostSpace = { calm: 1.7, behind: 1.8 } as const;
/** How many segments are counted through in one look at all. */
const mostLooks = 64;

export function createCompaction(options: CompactionOptions): Compaction {
  const { layout, buckets, fileBytes, reserve, isHeld, openGathering, moves } = options;
  /** Of a segment nobody has looked at yet, looked at when so many bytes are gone. */
  const firstDue = fileBytes / 32;
  /** With so many gone from the one that is written into, it is not written into any more. */
  const sealedBytes = fileBytes / 2;
  const usage = createSegmentUsage(layout);
  /** Buckets whose segments take too much, while they are emptied. */
  const behind = new Map<string, Held>();
  let last: Promise<unknown> = Promise.resolve();
  /** By marker. */
  const inherited = new Set<string>();
  /** Where the last look at all of a bucket's segments ended. */
  const reached = new Map<string, string>();

  const storedBytes = (id: string) => options.storedBytes(sharedSize(placeOf(id)));

  const segmentsOf = usage.of;

  function bound(bucketId: string, share: number): number {
    return usage.measure(bucketId).live * share + fileBytes;
  }

  /** Before a segment is emptied. */
  function holdIfBehind(bucketId: string): void {
    if (behind.has(bucketId) || usage.measure(bucketId).total <= bound(bucketId, mostSpace.behind)) return;
    behind.set(bucketId, { waiting: [], credit: 0 });
  }

  /** After so many bytes were given back: as many may be written. */
  function admit(bucketId: string, bytes: number): void {
    const held = behind.get(bucketId);
    if (held === undefined) return;
    held.credit += bytes;
    while (held.waiting.length > 0 && held.credit > 0) {
      const next = held.waiting.shift()!;
      held.credit -= next.bytes;
      next.goOn();
    }
    if (usage.measure(bucketId).total <= bound(bucketId, mostSpace.behind)) release(bucketId);
  }

  function release(bucketId: string): void {
    for (const { goOn } of behind.get(bucketId)?.waiting ?? []) goOn();
    behind.delete(bucketId);
  }

  /** Those of its bodies that are being forgotten, and are still known. */
  function leavingOf(bucketId: string, name: string, living: readonly SegmentBlob[]): Set<string> {
    const leaving = segmentsOf(bucketId).get(name)?.leaving ?? new Set<string>();
    return new Set(living.map(({ id }) => id).filter((id) => leaving.has(id)));
  }

  /** How many bytes it has given back. */
  async function look(bucket: string, bucketId: string, name: string, most: number): Promise<number> {
    const paths = bucketPaths(layout, bucketId);
    const path = join(paths.segments, name);
    const read = <T>(ask: (queries: Queries) => T) => buckets.read(bucket, ask, () => false);
    const size = statSync(path, { throwIfNoEntry: false })?.size;
    const living = size === undefined ? [] : read((queries) => queries.blobsIn(bucketId, name));
    const leaving = leavingOf(bucketId, name, living);
    const live = living.reduce((sum, { id }) => sum + (leaving.has(id) ? 0 : storedBytes(id)), 0);
    if (size !== undefined && living.length > 0 && !isWorthMoving(live, size, most)) {
      segmentsOf(bucketId).set(name, { gone: 0, due: size / 16, leaving, counted: { size, live } });
      return 0;
    }
    const isBody = ({ id, key }: SegmentBlob) => read((queries) => isBodyOf(queries, id, key));
    if (live > 0) await moves.moveAll(bucketId, path, living, isBody);
    // A backup that holds the bucket may have seen it before the move.
    const isEmpty = !isHeld(paths) && !read((queries) => queries.hasBlobsIn(bucketId, name));
    if (!isEmpty) {
      segmentsOf(bucketId).set(name, { gone: 0, due: 1, leaving, counted: { size: size ?? 0, live: 0 } });
      return 0;
    }
    rmSync(path, { force: true });
    segmentsOf(bucketId).delete(name);
    usage.change(bucketId, { total: -(size ?? 0), live: -live });
    return (size ?? 0) - live;
  }

  /** There must be room for what is moved: the reserve's, if need be. Where space is short, less has to be gone. */
  function isWorthMoving(live: number, size: number, most: number): boolean {
    const { bavail, bsize } = statfsSync(layout.root);
    const free = bavail * bsize;
    if (live >= size * (free < 4 * fileBytes ? mostLive.short : most)) return false;
    const needed = live + fileBytes / 16;
    if (needed <= free) return true;
    return needed <= free + reserveBytes && reserve.release();
  }

  /** In turn, when there are many: a look at one reads the names of all its bodies. */
  function inTurn(bucketId: string, segments: readonly string[]): string[] {
    const from = reached.get(bucketId) ?? "";
    const names = segments.filter((name) => name > from).sort();
    const turn = names.slice(0, mostLooks);
    reached.set(bucketId, names.length > turn.length ? turn.at(-1)! : "");
    return turn;
  }

  /** The one that this process writes into is ended when nothing in it has a name, or half of what it may have is gone. */
  function sealIfSpent(bucket: string, bucketId: string, which: "touched" | "all"): void {
    const gathering = openGathering(bucketId);
    const head = gathering?.head();
    if (head === undefined) return;
    const use = segmentsOf(bucketId).get(head.name);
    const gone = use?.gone ?? 0;
    const mayBeEmpty = which === "all" || gone >= head.end / 2;
    if (gone < sealedBytes && !(mayBeEmpty && isEmpty(bucket, bucketId, head.name))) return;
    segmentsOf(bucketId).set(head.name, { gone, due: 0, leaving: use?.leaving ?? new Set() });
    void gathering!.rest();
  }

  function isEmpty(bucket: string, bucketId: string, name: string): boolean {
    const has = (queries: Queries) => queries.hasBlobsIn(bucketId, name);
    return !buckets.read(bucket, has, () => false);
  }

  function due(bucket: string, bucketId: string, which: "touched" | "all"): string[] {
    sealIfSpent(bucket, bucketId, which);
    // Those first of which most has gone: on a full disk they make room for the others.
    const names = [...segmentsOf(bucketId)]
      .filter(([, { gone, due }]) => gone >= due)
      .sort(([, one], [, other]) => other.gone - one.gone)
      .map(([name]) => name);
    if (which === "touched") return names;
    const all = filesIn(bucketPaths(layout, bucketId).segments);
    const empty = all.filter((name) => isEmpty(bucket, bucketId, name));
    return [...new Set([...names, ...empty, ...inTurn(bucketId, all)])];
  }

  async function lookAtAll(bucket: string, bucketId: string, names: readonly string[], most: number) {
    if (names.length === 0) return;
    // One that somebody still writes into, or is about to name a body in, is left alone.
    const { open } = bucketPaths(layout, bucketId);
    const markers = filesIn(open).filter((marker) => !inherited.has(marker));
    for (const name of names) {
      if (markers.some((marker) => marker.startsWith(name))) continue;
      const marker = markerName(name, options.processName);
      const share = inherited.has(marker) ? mostLive.all : most;
      holdIfBehind(bucketId);
      try {
        admit(bucketId, await look(bucket, bucketId, name, share));
        if (inherited.delete(marker)) rmSync(join(open, marker), { force: true });
      } catch (error) {
        if (isMissing(error)) continue;
        if (!(error instanceof StoreError)) throw error;
        // Without room to move anything to, what can be removed whole still is; what is damaged stays, and verify tells.
        if (error.reason !== "InsufficientStorage" && error.reason !== "InternalError") throw error;
        segmentsOf(bucketId).delete(name);
      }
    }
  }

  async function runNow(bucket: string, which: "touched" | "all"): Promise<void> {
    const { id: bucketId } = buckets.open(bucket).bucket;
    const paths = bucketPaths(layout, bucketId);
    if (isHeld(paths)) return;
    try {
      await lookAtAll(bucket, bucketId, due(bucket, bucketId, which), mostLive[which]);
      const crowded = usage.emptiest(bucketId, bound(bucketId, mostSpace.calm));
      await lookAtAll(bucket, bucketId, crowded, mostLive.crowded);
    } finally {
      release(bucketId);
    }
  }

  return {
    note(blob) {
      const { bucketId, folder } = placeOf(blob);
      const segments = segmentsOf(bucketId);
      const known = segments.get(folder) ?? { gone: 0, due: firstDue, leaving: new Set() };
      known.gone += storedBytes(blob);
      known.leaving.add(blob);
      usage.change(bucketId, { live: -storedBytes(blob) });
      segments.set(folder, known);
    },
    run(bucket, which) {
      // One at a time: two would move the same bodies.
      const turn = last.then(() => runNow(bucket, which));
      last = turn.catch(() => {});
      return turn;
    },
    inherit(bucketId, segment) {
      inherited.add(markerName(segment, options.processName));
      segmentsOf(bucketId).set(segment, { gone: 0, due: 0, leaving: new Set() });
    },
    noteWritten: (bucketId, bytes) => usage.change(bucketId, { total: bytes, live: bytes }),
    keepPace(bucketId, bytes) {
      const held = behind.get(bucketId);
      return held && new Promise((goOn) => held.waiting.push({ bytes, goOn }));
    },
  };
}

function isBodyOf(queries: Queries, id: string, key: Uint8Array | undefined): boolean {
  return key !== undefined && queries.isBodyOf(key, id);
}
