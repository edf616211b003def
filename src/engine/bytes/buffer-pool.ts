// Bodies that come in among many others. A buffer for each would add up, and most of them only wait for their
// sender: so a few buffers serve all, and a body has one only from the moment its bytes are there until they are
// hashed and written. That takes as long as the disk, never as long as a sender.
import { allocate, copyTo } from "./byte-streams.ts";

export interface Turns {
  /** A buffer of shared memory, once one is free; in the order they were asked for. */
  take(): Promise<Buffer>;
  give(buffer: Buffer): void;
}

const bufferBytes = 64 * 1024;
/** More than the disk and the hashing threads can be busy with. */
const buffers = 32;
/** Crumbs are kept until they are worth a turn. */
const crumbBytes = 8 * 1024;

export function createTurns(): Turns {
  const free: Buffer[] = [];
  const waiting: ((buffer: Buffer) => void)[] = [];
  let made = 0;
  return {
    async take() {
      const buffer = free.pop();
      if (buffer !== undefined) return buffer;
      if (made < buffers) {
        made++;
        return allocate({ size: bufferBytes, memory: "shared" });
      }
      return new Promise((resolve) => waiting.push(resolve));
    },
    give(buffer) {
      const next = waiting.shift();
      if (next === undefined) free.push(buffer);
      else next(buffer);
    },
  };
}

const nothing = new Uint8Array();

export interface TurnOptions {
  readonly turns: Turns;
  /** The first piece is at most so long. */
  readonly firstBytes: number;
  readonly release?: ((chunk: Uint8Array) => void) | undefined;
}

/** The same bytes in buffers that take turns. */
export async function* inTurns(
  chunks: AsyncIterable<Uint8Array>,
  { turns, firstBytes, release }: TurnOptions,
): AsyncGenerator<Uint8Array> {
  const crumbs = createCrumbs();
  let most = firstBytes;

  async function* pass(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
    const buffer = await turns.take();
    try {
      for (let at = 0; at < bytes.length; ) {
        const kept = crumbs.moveTo(buffer);
        const piece = bytes.subarray(at, at + Math.max(0, Math.min(most, buffer.length) - kept));
        copyTo(buffer, piece, kept);
        at += piece.length;
        most = buffer.length;
        yield buffer.subarray(0, kept + piece.length);
        // Whoever asks for what comes behind this piece is done with the one before.
        yield nothing;
      }
    } finally {
      turns.give(buffer);
    }
  }

  for await (const chunk of chunks) {
    if (!crumbs.keep(chunk)) yield* pass(chunk);
    release?.(chunk);
  }
  const last = crumbs.all();
  if (last.length > 0) yield* pass(last);
}

/** Copies, since a sender may write into its chunk again. */
function createCrumbs() {
  let kept: Uint8Array[] = [];
  let size = 0;
  const empty = () => {
    const all = kept;
    kept = [];
    size = 0;
    return all;
  };
  return {
    /** False when they would be more than crumbs. */
    keep(chunk: Uint8Array): boolean {
      if (size + chunk.length > crumbBytes) return false;
      kept.push(new Uint8Array(chunk));
      size += chunk.length;
      return true;
    },
    moveTo(buffer: Buffer): number {
      let at = 0;
      for (const crumb of empty()) {
        copyTo(buffer, crumb, at);
        at += crumb.length;
      }
      return at;
    },
    all: () => Buffer.concat(empty()),
  };
}
