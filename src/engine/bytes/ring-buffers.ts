// A body on its way in, piece by piece: in buffers of the engine's own, so that a script that writes into its chunk
// again cannot make hash and bytes disagree. Those of large bodies are shared with the hashing thread.
import { StoreError } from "../../model/errors.ts";
import { limits } from "../../model/limits.ts";
import type { Context } from "../context.ts";
import type { ByteStream, Source } from "../engine.ts";
import { inTurns } from "./buffer-pool.ts";
import { allocate, type BufferWish, createRing, once, type RingWish, refill } from "./byte-streams.ts";
import type { Digests } from "./digests.ts";

export interface PieceForm {
  /** Hashed in a thread beside. */
  readonly isLarge: boolean;
  /** Shares its buffers with other bodies. */
  readonly isCrowded: boolean;
  /** By the memory they are in, pieces whose hash is under way. */
  readonly hashes: WeakMap<ArrayBufferLike, Promise<void>>;
  /** The memory it shares with the hashing thread. */
  shared: readonly Buffer[];
}

/** Bodies from this size on are hashed in a thread beside, as are those that do not say their size. */
const largeBytes = 512 * 1024;

/** Small bodies end in the first piece, so it stays small. */
const firstPiece: RingWish = { size: 16 * 1024, memory: "own", buffers: 2 };

/** From so many at once on, bodies share their buffers; those that came before let go of larger ones. */
const crowd = 32;
const crowdedBytes = 64 * 1024;

export function formOf({ intakes }: Context, source: Source): PieceForm {
  const isLarge = (source.length ?? Number.POSITIVE_INFINITY) >= largeBytes;
  return { isLarge, isCrowded: intakes.active >= crowd, hashes: new WeakMap(), shared: [] };
}

export async function* inPieces(
  context: Context,
  source: Source,
  form: PieceForm,
): AsyncGenerator<Uint8Array> {
  const { isLarge, isCrowded, hashes } = form;
  const { intakes } = context;
  intakes.active++;
  try {
    if (isCrowded) {
      const release = source instanceof Uint8Array ? undefined : source.release;
      yield* inTurns(chunksOf(source), { turns: intakes.turns, firstBytes: 2 * limits.inlineBytes, release });
      return;
    }
    let isFirst = true;
    const usual = wishAmong(intakes.active, isLarge ? "large" : source.length!);
    const nextWish = (): RingWish => {
      const wish = isFirst ? firstPiece : intakes.active > crowd ? { ...usual, size: crowdedBytes } : usual;
      isFirst = false;
      return wish;
    };
    const make = (wish: BufferWish) => {
      if (wish.memory === "own") return allocate(wish);
      const buffer = takeSpare(wish.size) ?? allocate(wish);
      // Those of another size are out of use.
      form.shared = [...form.shared.filter(({ length }) => length === wish.size), buffer];
      return buffer;
    };
    const nextBuffer = createRing(nextWish, ({ buffer }) => hashes.get(buffer), make);
    if (isLarge && !(source instanceof Uint8Array) && source.filler !== undefined) {
      yield* filled(source, nextBuffer);
    } else yield* refill(chunksOf(source), nextBuffer);
  } finally {
    intakes.active--;
  }
}

/**
 * Large pieces while few streams come in. Of a large body several wait for their hash: sender, hash and disk seldom go
 * in step, and at its end the last sync is done before the hash.
 */
function wishAmong(active: number, length: number | "large"): RingWish {
  const size = active <= 4 ? 2 * 1024 * 1024 : 256 * 1024;
  if (length === "large") return { size, memory: "shared", buffers: 4 };
  return { size: Math.min(size, Math.max(length - firstPiece.size, 1)), memory: "own", buffers: 2 };
}

/** Shared memory of bodies that are in. The collector does not count it, and would leave it lying for long. */
const spare: Buffer[] = [];
const spareBytes = 16 * 1024 * 1024;

function takeSpare(size: number): Buffer | undefined {
  const index = spare.findIndex(({ length }) => length === size);
  return index === -1 ? undefined : spare.splice(index, 1)[0];
}

/** For a body that is hashed and stored: the next may have its memory. */
export function giveBack({ shared }: PieceForm): void {
  spare.push(...shared);
  let kept = spare.reduce((sum, { length }) => sum + length, 0);
  while (kept > spareBytes) kept -= spare.shift()!.length;
}

function chunksOf(source: Source): AsyncIterable<Uint8Array> {
  return source instanceof Uint8Array ? once(source) : declared(source);
}

/** A stream that said how long it is must be exactly that long. */
export async function* declared(stream: ByteStream): AsyncGenerator<Uint8Array> {
  let seen = 0;
  for await (const chunk of stream.chunks()) {
    seen += chunk.length;
    if (stream.length !== undefined && seen > stream.length) {
      throw new StoreError("IncompleteBody", { detail: "The body went on behind its declared length." });
    }
    yield chunk;
  }
  if (stream.length !== undefined && seen < stream.length) throw new StoreError("IncompleteBody");
}

/** Written by its sender into the buffers themselves. */
function filled(stream: ByteStream, nextBuffer: () => Promise<Buffer>): AsyncGenerator<Uint8Array> {
  async function* chunks(): AsyncGenerator<Uint8Array> {
    const filler = stream.filler!();
    try {
      for (let isEnd = false; !isEnd; ) {
        const buffer = await nextBuffer();
        const count = await filler.fill(buffer);
        isEnd = count < buffer.length;
        if (count > 0) yield isEnd ? buffer.subarray(0, count) : buffer;
      }
    } finally {
      filler.leave();
    }
  }
  return declared({ ...stream, chunks });
}

/** Passes the pieces on while they are hashed; a piece's buffer is used again only when its hash is done. */
export async function* hashing(
  pieces: AsyncIterable<Uint8Array>,
  digests: Digests,
  { isCrowded, hashes }: PieceForm,
): AsyncGenerator<Uint8Array> {
  let previous: Promise<void> | undefined;
  for await (const piece of pieces) {
    const hashed = piece.length === 0 ? undefined : digests.update(piece);
    // Told when it is awaited, some pieces later, or at the end.
    hashed?.catch(() => {});
    if (hashed !== undefined) hashes.set(piece.buffer, hashed);
    yield piece;
    if (!isCrowded) continue;
    await previous;
    previous = hashed;
  }
}
