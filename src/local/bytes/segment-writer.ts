// Batches medium-sized bodies. Bodies that arrive in one turn of the event loop, or during the last
// sync, form a group, which is stored in a segment with one write and one sync.
import { Buffer } from "node:buffer";
import { performance } from "node:perf_hooks";
import { clearTimeout, setImmediate, setTimeout } from "node:timers";
import { crc32 } from "@node-rs/crc32";
import type { StagedBlob } from "../../engine/blobs.ts";
import { writeError } from "../disk/errors.ts";
import { type BucketPaths, blobId, segmentFile } from "../disk/layout.ts";
import type { LocalMetrics } from "../disk/metrics.ts";
import type { WriteStop } from "../disk/write-stop.ts";
import { checksumBytes, checksumSeed, storedBytes } from "./block-writer.ts";
import { openSegment, type Segment } from "./segment.ts";

export interface SegmentSizes {
  /** The largest body that is stored in a segment. */
  readonly bodyBytes: number;
  /** Maximum size of a segment. */
  readonly fileBytes: number;
}

export const defaultSegmentSizes: SegmentSizes = { bodyBytes: 256 * 1024, fileBytes: 8 * 1024 * 1024 };

export interface SegmentWriter {
  /**
   * Stores a body of `size` bytes, which `fill` copies into the given buffer. The body is durable
   * when the promise resolves. If `fill` throws, nothing is stored. Undefined if no buffer is free.
   */
  stage(size: number, fill: (target: Uint8Array) => void): Promise<StagedBlob | undefined>;
  /** The segment being written, and the number of its reserved bytes. */
  head(): Pick<Segment, "name" | "end"> | undefined;
  /** Seals the open segments. The next body is written into a new segment. */
  seal(): Promise<void>;
}

export interface SegmentWriterOptions {
  readonly bucketId: string;
  readonly paths: BucketPaths;
  readonly processName: string;
  readonly blockBytes: number;
  readonly sizes: SegmentSizes;
  readonly memory: GroupMemory;
  readonly writeStop: WriteStop;
  readonly metrics: Pick<LocalMetrics, "bodySync">;
  /** Called after each body is stored, with the number of bytes it uses on disk. */
  readonly onStored: (bytes: number) => void;
}

interface Group {
  readonly segment: Segment;
  readonly at: number;
  readonly bytes: Uint8Array;
  filled: number;
  readonly bodies: {
    readonly blob: StagedBlob;
    resolve(blob: StagedBlob): void;
    reject(error: unknown): void;
  }[];
}

const idleMilliseconds = 5_000;

export function createSegmentWriter(options: SegmentWriterOptions): SegmentWriter {
  const { bucketId, paths, processName, blockBytes, sizes, memory, writeStop, metrics } = options;
  let head: Segment | undefined;
  /** The next segment, created before it is needed because creating it takes two syncs. */
  let next: Promise<Segment> | undefined;
  /** Groups that are not written yet. The last group is still being filled. */
  const groups: Group[] = [];
  let isWriting = false;
  let idle: NodeJS.Timeout | undefined;

  function prepareNext(): Promise<Segment> {
    if (next !== undefined) return next;
    const opening: Promise<Segment> = openSegment(paths, processName).catch((error: unknown) => {
      if (next === opening) next = undefined;
      throw writeError(error, writeStop);
    });
    next = opening;
    return opening;
  }

  /** Replaces a full segment with the next segment. */
  async function replaceHead(full: Segment | undefined): Promise<void> {
    const prepared = prepareNext();
    const opened = await prepared;
    // Only the first of several waiting callers installs the segment, unless it was sealed
    // meanwhile.
    if (head !== full || next !== prepared) return;
    next = undefined;
    full?.seal();
    head = opened;
  }

  function groupFor(segment: Segment, stored: number): Group | undefined {
    const last = groups.at(-1);
    if (last?.segment === segment && last.filled + stored <= last.bytes.length) return last;
    const bytes = memory.take();
    if (bytes === undefined) return undefined;
    const group: Group = { segment, at: segment.end, bytes, filled: 0, bodies: [] };
    groups.push(group);
    return group;
  }

  /** Drops an empty group. */
  function drop(group: Group): void {
    groups.splice(groups.indexOf(group), 1);
    memory.release(group.bytes);
  }

  async function writeGroups(): Promise<void> {
    for (let group = groups.shift(); group !== undefined; group = groups.shift()) {
      try {
        const begin = performance.now();
        await group.segment.append(group.bytes.subarray(0, group.filled), group.at);
        metrics.bodySync.observe((performance.now() - begin) / 1000);
        writeStop.check();
        for (const { blob, resolve } of group.bodies) resolve(blob);
      } catch (error) {
        await fail(group, writeError(error, writeStop));
      } finally {
        memory.release(group.bytes);
      }
    }
    isWriting = false;
  }

  /** Seals the segment after a failed write or sync, and truncates the bytes of the group. */
  async function fail({ segment, at, bodies }: Group, error: unknown): Promise<void> {
    if (head === segment) void seal();
    const isLast = !groups.some((group) => group.segment === segment);
    if (isLast) await segment.truncate(at).catch(() => {});
    for (const { reject } of bodies) {
      segment.settle("dropped");
      reject(error);
    }
  }

  /** Waits for the end of the turn, so that all bodies that arrive in it form one group. */
  function writeSoon(): void {
    if (isWriting) return;
    isWriting = true;
    setImmediate(() => void writeGroups());
  }

  async function seal(): Promise<void> {
    clearTimeout(idle);
    idle = undefined;
    head?.seal();
    head = undefined;
    const prepared = next;
    next = undefined;
    // Ignore a failed creation of the next segment: it has left no files.
    await prepared?.then((segment) => segment.seal()).catch(() => {});
  }

  function restartIdleTimer(): void {
    if (idle === undefined) idle = setTimeout(() => void seal(), idleMilliseconds).unref();
    else idle.refresh();
  }

  return {
    async stage(size, fill) {
      const stored = storedBytes(size, blockBytes);
      while (head === undefined || head.end + stored > sizes.fileBytes) await replaceHead(head);
      const segment = head;
      const group = groupFor(segment, stored);
      if (group === undefined) return undefined;
      const id = blobId({ bucketId, folder: segment.name, file: segmentFile(segment.end, size) });
      try {
        appendBody(group, id, size, fill);
      } catch (error) {
        if (group.bodies.length === 0) drop(group);
        throw error;
      }
      segment.reserve(stored);
      options.onStored(stored);
      if (segment.end > sizes.fileBytes / 2) prepareNext().catch(() => {});
      restartIdleTimer();
      return new Promise((resolve, reject) => {
        group.bodies.push({ blob: toStagedBlob(segment, id, size), resolve, reject });
        writeSoon();
      });
    },
    head: () => head,
    seal,
  };

  function appendBody(group: Group, id: string, size: number, fill: (target: Uint8Array) => void): void {
    const { bytes, filled } = group;
    const body = bytes.subarray(filled, filled + size);
    fill(body);
    const seed = checksumSeed(id);
    const table = new DataView(bytes.buffer, bytes.byteOffset + filled + size);
    let blocks = 0;
    for (let at = 0; at < size; at += blockBytes, blocks++) {
      const block = size <= blockBytes ? body : body.subarray(at, at + blockBytes);
      table.setUint32(blocks * checksumBytes, crc32(block, seed(blocks)));
    }
    group.filled += size + blocks * checksumBytes;
  }
}

function toStagedBlob(segment: Segment, id: string, size: number): StagedBlob {
  let settled = false;
  const settle = (fate: "referenced" | "dropped") => {
    if (settled) return;
    settled = true;
    segment.settle(fate);
  };
  return { id, size, keep: () => settle("referenced"), discard: async () => settle("dropped") };
}

/** Buffers for the groups of all buckets, reused because allocating costs as much as copying. */
export interface GroupMemory {
  take(): Uint8Array | undefined;
  release(bytes: Uint8Array): void;
}

const groupBytes = 4 * 1024 * 1024;
const maxGroups = 4;

export function createGroupMemory(): GroupMemory {
  const spare: Uint8Array[] = [];
  let taken = 0;
  return {
    take() {
      if (taken === maxGroups) return undefined;
      taken++;
      return spare.pop() ?? Buffer.allocUnsafeSlow(groupBytes);
    },
    release(bytes) {
      taken--;
      spare.push(bytes);
    },
  };
}
