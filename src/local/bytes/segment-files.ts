// Keeps recently read segments open: opening a file costs more than reading a small body from it.
import { closeSync } from "node:fs";
import { clearTimeout, setTimeout } from "node:timers";

export interface SegmentFiles {
  /** Opens a segment for one reader, with `open` if no earlier reader has left it open. */
  acquire(name: string, open: () => Promise<number | undefined>): Promise<OpenSegment | undefined>;
  /** Closes the segment as soon as it has no readers: a removed file uses its space while open. */
  drop(name: string): void;
  close(): void;
}

export interface OpenSegment {
  readonly descriptor: number;
  /** Called once, when the reader is done. */
  release(): void;
}

interface Entry {
  readonly descriptor: number;
  readers: number;
  isKept: boolean;
}

const maxSegments = 64;
/**
 * A segment is opened again after this time, because other processes remove segments too. It is the
 * longest time for which a removed segment uses space.
 */
const keptMilliseconds = 1000;

export function createSegmentFiles(): SegmentFiles {
  const entries = new Map<string, Entry>();
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  function drop(name: string): void {
    const entry = entries.get(name);
    if (entry === undefined) return;
    entries.delete(name);
    entry.isKept = false;
    closeIfUnused(entry);
  }

  function dropAll(): void {
    clearTimeout(timer);
    timer = undefined;
    for (const name of [...entries.keys()]) drop(name);
  }

  function keep(name: string, entry: Entry): void {
    // Another reader may have opened the segment at the same time.
    if (isClosed || entries.has(name)) return;
    if (entries.size >= maxSegments) drop(entries.keys().next().value!);
    entry.isKept = true;
    entries.set(name, entry);
    timer ??= setTimeout(dropAll, keptMilliseconds).unref();
  }

  return {
    async acquire(name, open) {
      const kept = entries.get(name);
      if (kept !== undefined) return startReading(kept);
      const descriptor = await open();
      if (descriptor === undefined) return undefined;
      const entry: Entry = { descriptor, readers: 0, isKept: false };
      keep(name, entry);
      return startReading(entry);
    },
    drop,
    close() {
      isClosed = true;
      dropAll();
    },
  };
}

function startReading(entry: Entry): OpenSegment {
  entry.readers++;
  return {
    descriptor: entry.descriptor,
    release() {
      entry.readers--;
      closeIfUnused(entry);
    },
  };
}

function closeIfUnused({ isKept, readers, descriptor }: Entry): void {
  // Closing a file that was only read does not block.
  if (!isKept && readers === 0) closeSync(descriptor);
}
