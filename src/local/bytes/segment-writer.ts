// Gathers bodies of middle size: what one turn of the event loop and the time of the last sync have brought is one
// group, written into a segment with one write and one sync. Bytes are copied into memory that groups take in turn.
import { crc32 } from "@node-rs/crc32";
import type { StagedBlob } from "../../engine/blobs.ts";
import { writeError } from "../disk/errors.ts";
import { type BucketPaths, blobId, segmentFile } from "../disk/layout.ts";
import type { LocalMetrics } from "../disk/metrics.ts";
import type { WriteStop } from "../disk/write-stop.ts";
import { checksumBytes, checksumSeed, storedBytes } from "./block-writer.ts";
import { openSegment, type Segment } from "./segment.ts";

export interface SegmentSizes {
  /** The largest body that shares a file. */
  readonly bodyBytes: number;
  /** A segment takes no more once it has so many. */
  readonly fileBytes: number;
}

export const defaultSegmentSizes: SegmentSizes = { bodyBytes: 256 * 1024, fileBytes: 8 * 1024 * 1024 };

export interface SegmentWriter {
  /**
   * Takes a body of so many bytes in, which `fill` copies into the place it is given; durable once this resolves. What
   * `fill` throws is passed on, and nothing was taken in. Undefined when there is no room now.
   */
  stage(size: number, fill: (target: Uint8Array) => void): Promise<StagedBlob | undefined>;
  /** The segment that bodies go into, and how many of its bytes are given away. */
  head(): Pick<Segment, "name" | "end"> | undefined;
  /** Seals what is open: nothing is lost by it but a little speed. */
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
  /** Called with the bytes that each body takes. */
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
  /** The next one, made before it is needed: that takes two syncs. */
  let next: Promise<Segment> | undefined;
  /** The last of them is still being filled. */
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

  /** Puts the next segment in the place of one that is full. */
  async function replaceHead(full: Segment | undefined): Promise<void> {
    const prepared = prepareNext();
    const opened = await prepared;
    // Of several that wait for it, the first puts it in its place; one that was sealed meanwhile is none.
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

  /** One that nobody is in. */
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

  /** What a failed write or sync has left is never named; no more is put behind it, and on a full disk it goes. */
  async function fail({ segment, at, bodies }: Group, error: unknown): Promise<void> {
    if (head === segment) void seal();
    const isLast = !groups.some((group) => group.segment === segment);
    if (isLast) await segment.truncate(at).catch(() => {});
    for (const { reject } of bodies) {
      segment.settle("dropped");
      reject(error);
    }
  }

  /** What the whole turn brings goes together: written at once, the first of many would go alone. */
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
    // One that could not be made has left nothing.
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
  const settle = (fate: "named" | "dropped") => {
    if (settled) return;
    settled = true;
    segment.settle(fate);
  };
  return { id, size, keep: () => settle("named"), discard: async () => settle("dropped") };
}

/** The memory of groups, all buckets together. Fresh pages cost as much as the bytes, so it is used again. */
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
