// Marks that differ after every commit to a bucket, from the times of its files: reading them takes
// microseconds, opening the bucket milliseconds.
import { type Stats, statfsSync, statSync } from "node:fs";
import { bucketPaths, type Layout } from "../disk/layout.ts";
import { filesIn } from "../recovery/recover.ts";

/** Two commits in this time may leave the same time of a file. */
const coarsestTimeMilliseconds = 2000;
/** Compaction examines this many segments in one sweep. With more, it is not finished after one. */
const maxSegments = 64;

/** With less free space, compaction also moves bodies out of segments that are not sparse. */
const shortBytes = 1024 ** 3;

/** Returns a function that returns the mark of a bucket by its name. */
export function createChangeMarks(
  layout: Layout,
  buckets: readonly { readonly name: string; readonly id: string }[],
): (name: string) => string | undefined {
  const { bavail, bsize } = statfsSync(layout.root);
  if (bavail * bsize < shortBytes) return () => undefined;
  const ids = new Map(buckets.map(({ name, id }) => [name, id]));
  return (name) => {
    const id = ids.get(name);
    return id === undefined ? undefined : readChangeMark(layout, id);
  };
}

/** Returns undefined if the bucket changes now, or if a sweep has work without a commit. */
function readChangeMark(layout: Layout, bucketId: string, now = Date.now()): string | undefined {
  const { database, open, segments } = bucketPaths(layout, bucketId);
  if (filesIn(segments).length > maxSegments) return undefined;
  const stats = [find(database), find(`${database}-wal`)];
  const newest = Math.max(...stats.map((found) => found?.mtimeMs ?? 0));
  if (newest > now - coarsestTimeMilliseconds) return undefined;
  // A marker goes when its segment is finished, and is renamed if the segment's process crashed:
  // the segment can be compacted then.
  return [bucketId, ...stats.map(describe), ...filesIn(open).sort()].join(" ");
}

function find(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false });
}

/** An empty log is the same as none: it is created and removed by readers. */
function describe(found: Stats | undefined): string {
  return found === undefined || found.size === 0 ? "none" : `${found.ino} ${found.size} ${found.mtimeMs}`;
}
