// Gives back the space of bodies that are gone from segments. One that has no living body is removed; of one that is
// half empty the living bodies are moved. Bytes are never taken from under a reader: files are only ever removed whole.
import { rmSync, statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import { StoreError } from "../model/errors.ts";
import type { Buckets } from "./buckets.ts";
import { isMissing } from "./disk-errors.ts";
import type { Gathering } from "./gathering.ts";
import { type BucketPaths, bucketPaths, type Layout, placeOf, sharedSize } from "./layout.ts";
import type { Moves } from "./moves.ts";
import type { Queries } from "./queries.ts";
import { filesIn } from "./recover.ts";
import { type Reserve, reserveBytes } from "./reserve.ts";
import type { SegmentBlob } from "./segment-queries.ts";

export interface Compaction {
  /** A body is about to be forgotten. */
  note(blob: string): void;
  /** Looks at the segments in which enough has gone since the last look; or at all of them. */
  run(bucket: string, which: "touched" | "all"): Promise<void>;
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
  readonly moves: Moves;
  readonly reserve: Pick<Reserve, "release">;
}

interface Touched {
  /** Bytes gone since the last look. */
  gone: number;
  /** With so many gone it is looked at again. */
  due: number;
}

/**
 * How much of a segment may live for it to be worth moving. While bodies come and go, those that are left soon go, too:
 * moved at two fifths, all together take less than twice their bytes, for two thirds of the moves.
 */
const mostLive = { touched: 0.4, all: 0.5, short: 0.9 } as const;
/** How many segments are counted through in one look at all. */
const mostLooks = 64;

export function createCompaction(options: CompactionOptions): Compaction {
  const { layout, buckets, fileBytes, reserve, isHeld, openGathering, moves } = options;
  /** Of a segment nobody has looked at yet, looked at when so many bytes are gone. */
  const firstDue = fileBytes / 32;
  /** With so many gone from the one that is written into, it is not written into any more. */
  const sealedBytes = fileBytes / 2;
  const touched = new Map<string, Map<string, Touched>>();
  /** Where the last look at all of a bucket's segments ended. */
  const reached = new Map<string, string>();

  const storedBytes = (id: string) => options.storedBytes(sharedSize(placeOf(id)));

  function segmentsOf(bucketId: string): Map<string, Touched> {
    const known = touched.get(bucketId) ?? new Map<string, Touched>();
    touched.set(bucketId, known);
    return known;
  }

  async function look(bucket: string, bucketId: string, name: string, most: number): Promise<void> {
    const paths = bucketPaths(layout, bucketId);
    const path = join(paths.segments, name);
    const read = <T>(ask: (queries: Queries) => T) => buckets.read(bucket, ask, () => false);
    const size = statSync(path, { throwIfNoEntry: false })?.size;
    const living = size === undefined ? [] : read((queries) => queries.blobsIn(bucketId, name));
    const live = living.reduce((sum, { id }) => sum + storedBytes(id), 0);
    if (size !== undefined && live > 0 && !isWorthMoving(live, size, most)) {
      segmentsOf(bucketId).set(name, { gone: 0, due: size / 16 });
      return;
    }
    const isBody = ({ id, key }: SegmentBlob) => read((queries) => isBodyOf(queries, id, key));
    if (live > 0) await moves.moveAll(bucketId, path, living, isBody);
    // A backup that holds the bucket may have seen it before the move.
    const isEmpty = !isHeld(paths) && !read((queries) => queries.hasBlobsIn(bucketId, name));
    if (isEmpty) {
      rmSync(path, { force: true });
      segmentsOf(bucketId).delete(name);
    } else {
      segmentsOf(bucketId).set(name, { gone: 0, due: 1 });
    }
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
    const gone = segmentsOf(bucketId).get(head.name)?.gone ?? 0;
    const mayBeEmpty = which === "all" || gone >= head.end / 2;
    if (gone < sealedBytes && !(mayBeEmpty && isEmpty(bucket, bucketId, head.name))) return;
    segmentsOf(bucketId).set(head.name, { gone, due: 0 });
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

  return {
    note(blob) {
      const { bucketId, folder } = placeOf(blob);
      const segments = segmentsOf(bucketId);
      const known = segments.get(folder) ?? { gone: 0, due: firstDue };
      known.gone += storedBytes(blob);
      segments.set(folder, known);
    },
    async run(bucket, which) {
      const { id: bucketId } = buckets.open(bucket).bucket;
      const paths = bucketPaths(layout, bucketId);
      const names = due(bucket, bucketId, which);
      if (names.length === 0 || isHeld(paths)) return;
      // One that somebody still writes into, or is about to name a body in, is left alone.
      const markers = filesIn(paths.open);
      for (const name of names) {
        if (markers.some((marker) => marker.startsWith(name))) continue;
        try {
          await look(bucket, bucketId, name, mostLive[which]);
        } catch (error) {
          if (isMissing(error)) continue;
          if (!(error instanceof StoreError)) throw error;
          // Without room to move anything to, what can be removed whole still is; what is damaged stays, and verify tells.
          if (error.reason !== "InsufficientStorage" && error.reason !== "InternalError") throw error;
          segmentsOf(bucketId).delete(name);
        }
      }
    },
  };
}

function isBodyOf(queries: Queries, id: string, key: Uint8Array | undefined): boolean {
  return key !== undefined && queries.isBodyOf(key, id);
}
