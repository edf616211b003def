// Taking bytes in: counts and hashes them as they pass, seals them when asked, and gives them a home,
// beside the record when they are few, else as a blob. Nothing is named until the caller commits.
import type { ExpectedChecksum } from "../model/checksum.ts";
import { StoreError } from "../model/errors.ts";
import { limits } from "../model/limits.ts";
import type { Checksums } from "../model/object.ts";
import type { StagedBlob } from "./blobs.ts";
import { collect, once, rechunk } from "./chunks.ts";
import type { Context } from "./context.ts";
import { type Digests, digestsOf, startDigests } from "./digests.ts";
import { encrypt } from "./encryption.ts";
import type { ByteStream, Source } from "./engine.ts";
import { inTurns } from "./turns.ts";

export interface IntakeOptions {
  readonly bucket: string;
  /** Seals the bytes; with the part they are, 0 for a body of its own. */
  readonly dataKey?: Uint8Array | undefined;
  readonly part: number;
  readonly checksums?: readonly ExpectedChecksum[] | undefined;
  /** Bodies up to this size are returned, not staged. */
  readonly inlineBytes: number;
}

export interface Intake {
  /** Bytes as the sender counts them. */
  readonly size: number;
  readonly etag: string;
  readonly checksums: Checksums;
  readonly home: { readonly inline: Uint8Array } | { readonly blob: StagedBlob };
}

/** Refuses a source whose declared length alone is too much, before a byte is read. */
export function checkDeclaredLength(source: Source): void {
  if ((source.length ?? 0) > limits.singleWriteBytes) throw new StoreError("EntityTooLarge");
}

export async function takeIn(context: Context, source: Source, options: IntakeOptions): Promise<Intake> {
  if (source instanceof Uint8Array && source.length <= options.inlineBytes) {
    // Copied before anything is awaited: the script may write into its buffer again.
    return takeInline(context, Buffer.from(source), options);
  }
  if (
    !(source instanceof Uint8Array) &&
    source.length !== undefined &&
    source.length <= options.inlineBytes
  ) {
    return takeInline(context, await wholeOf(source, source.length), options);
  }
  const isLarge = (source.length ?? Number.POSITIVE_INFINITY) >= largeBytes;
  const pieces = inPieces(context, source, isLarge);
  const start = await firstBytes(pieces, options.inlineBytes);
  if (start.ended) return takeInline(context, start.bytes!, options);
  try {
    return await stage(context, resume(start, pieces), isLarge, options);
  } catch (error) {
    // Refused before the rest was asked for, it has begun and would never end: it counts, and holds a buffer.
    await pieces.return(undefined);
    throw error;
  }
}

async function takeInline(context: Context, bytes: Uint8Array, options: IntakeOptions): Promise<Intake> {
  const { size, etag, checksums } = digestsOf(bytes, options.checksums ?? []);
  const { dataKey, part } = options;
  const inline = dataKey === undefined ? bytes : await sealWhole(context, bytes, dataKey, part);
  return { size, etag, checksums, home: { inline } };
}

async function stage(
  context: Context,
  pieces: AsyncIterable<Uint8Array>,
  isLarge: boolean,
  { bucket, checksums = [], dataKey, part }: IntakeOptions,
): Promise<Intake> {
  const digests = startDigests(checksums, isLarge ? context.hashThreads : undefined);
  let blob: StagedBlob | undefined;
  try {
    const hashed = hashing(pieces, digests);
    blob = await context.blobs.stage(
      bucket,
      dataKey === undefined ? hashed : encrypt(context, dataKey, part, hashed),
    );
    return { ...(await digests.finish()), home: { blob } };
  } catch (error) {
    digests.abandon();
    await blob?.discard();
    throw error;
  }
}

function sealWhole(context: Context, bytes: Uint8Array, dataKey: Uint8Array, part: number) {
  return collect(encrypt(context, dataKey, part, once(bytes)));
}

/** A stream that said how long it is must be exactly that long. */
async function* declared(stream: ByteStream): AsyncGenerator<Uint8Array> {
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

/** Of a few bytes; copied, since the sender may write into its chunks again. */
async function wholeOf(stream: ByteStream, length: number): Promise<Uint8Array> {
  const whole = Buffer.allocUnsafe(length);
  let filled = 0;
  for await (const chunk of declared(stream)) {
    whole.set(chunk, filled);
    filled += chunk.length;
  }
  return whole;
}

/**
 * Copies what comes into buffers of the engine's own before hashing: a script that writes into its chunk
 * again cannot make hash and bytes disagree. The buffers of large bodies are shared with the hashing thread.
 */
async function* inPieces(context: Context, source: Source, isLarge: boolean): AsyncGenerator<Uint8Array> {
  const chunks = source instanceof Uint8Array ? once(source) : declared(source);
  const { turns } = context.intakes;
  context.intakes.active++;
  try {
    if (context.intakes.active > crowd) {
      const release = source instanceof Uint8Array ? undefined : source.release;
      yield* inTurns(chunks, { turns, firstBytes: 2 * limits.inlineBytes, release });
      return;
    }
    let isFirst = true;
    yield* rechunk(chunks, () => {
      const size = isFirst ? firstPieceBytes : pieceBytes(context.intakes.active);
      const isShared = isLarge && !isFirst;
      isFirst = false;
      return { size, memory: isShared ? "shared" : "own" };
    });
  } finally {
    context.intakes.active--;
  }
}

/** Passes the pieces on while they are hashed; a piece's buffer is used again only when its hash is done. */
async function* hashing(pieces: AsyncIterable<Uint8Array>, digests: Digests): AsyncGenerator<Uint8Array> {
  let previous: Promise<void> | undefined;
  for await (const piece of pieces) {
    const hashed = piece.length === 0 ? undefined : digests.update(piece);
    // Told when it is awaited, a piece later.
    hashed?.catch(() => {});
    yield piece;
    await previous;
    previous = hashed;
  }
  await previous;
}

/** Bodies from this size on are hashed in a thread beside, as are those that do not say their size. */
const largeBytes = 512 * 1024;

/** Small bodies end in the first piece, so it stays small. */
const firstPieceBytes = 16 * 1024;

/** From so many at once on, bodies share their buffers. */
const crowd = 32;

/** Large pieces while few streams come in; those that came before the crowd let go of theirs. */
function pieceBytes(active: number): number {
  if (active <= 4) return 1024 * 1024;
  return active <= crowd ? 256 * 1024 : 64 * 1024;
}

interface Start {
  /** Let go of once they are passed on: a body may take hours behind them. */
  bytes: Uint8Array | undefined;
  readonly ended: boolean;
}

/** Reads until there is more than fits inline, or no more at all. */
async function firstBytes(chunks: AsyncGenerator<Uint8Array>, inlineBytes: number): Promise<Start> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  while (size <= inlineBytes) {
    const next = await chunks.next();
    if (next.done === true) return { bytes: Buffer.concat(pieces), ended: true };
    // A copy: the buffer of a piece is used again.
    pieces.push(new Uint8Array(next.value));
    size += next.value.length;
  }
  return { bytes: pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces), ended: false };
}

async function* resume(start: Start, rest: AsyncGenerator<Uint8Array>): AsyncIterable<Uint8Array> {
  try {
    yield start.bytes!;
    start.bytes = undefined;
    yield* rest;
  } finally {
    await rest.return(undefined);
  }
}
