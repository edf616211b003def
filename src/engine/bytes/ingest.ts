// Taking bytes in: counts and hashes them as they pass, seals them when asked, and gives them a home,
// beside the record when they are few, else as a blob. Nothing is named until the caller commits.
import type { ExpectedChecksum } from "../../model/checksum.ts";
import { StoreError } from "../../model/errors.ts";
import { limits } from "../../model/limits.ts";
import type { Checksums } from "../../model/object.ts";
import type { GatheredBlobs, StagedBlob } from "../blobs.ts";
import type { Context } from "../context.ts";
import type { ByteStream, Source } from "../engine.ts";
import { collect, once } from "./byte-streams.ts";
import { type Digested, digestsOf, startDigests } from "./digests.ts";
import { encrypt } from "./encryption.ts";
import { declared, formOf, giveBack, hashing, inPieces, type PieceForm } from "./ring-buffers.ts";
import { randomEtag } from "./sealed-checksums.ts";

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

/** The etag of plain bytes is their MD5; of bytes under a customer's key it says nothing about them. */
export function takeIn(context: Context, source: Source, options: IntakeOptions): Promise<Intake> {
  const received = receive(context, source, options);
  if (options.dataKey === undefined) return received;
  return received.then((intake) => ({ ...intake, etag: randomEtag(context) }));
}

async function receive(context: Context, source: Source, options: IntakeOptions): Promise<Intake> {
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
  const gathered = await gather(context, source, options);
  if (gathered !== undefined) return gathered;
  const form = formOf(context, source);
  const pieces = inPieces(context, source, form);
  const start = await firstBytes(pieces, options.inlineBytes);
  if (start.ended) return takeInline(context, start.bytes!, options);
  try {
    return await stage(context, resume(start, pieces), form, options);
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

/** A whole body among others; undefined when it is to be staged by itself. */
async function gather(context: Context, source: Source, options: IntakeOptions): Promise<Intake | undefined> {
  const { intakes, blobs } = context;
  const { length } = source;
  if (blobs.gathered === undefined || options.dataKey !== undefined || options.part !== 0) return undefined;
  if (length === undefined || length > blobs.gathered.mostBytes) return undefined;
  if (source instanceof Uint8Array) return stageGathered(blobs.gathered, source, options);
  // A stream comes in first, so that nobody waits for its sender; where too many do, each by itself.
  if (intakes.wholeBytes + length > mostWholeBytes) return undefined;
  intakes.wholeBytes += length;
  try {
    const bytes = await wholeOf(source, length);
    const gathered = await stageGathered(blobs.gathered, bytes, options);
    return gathered ?? (await stage(context, once(bytes), formOf(context, bytes), options));
  } finally {
    intakes.wholeBytes -= length;
  }
}

async function stageGathered(
  gathered: GatheredBlobs,
  bytes: Uint8Array,
  { bucket, checksums = [] }: IntakeOptions,
): Promise<Intake | undefined> {
  let digested: Digested | undefined;
  const blob = await gathered.stage(bucket, bytes.length, (place) => {
    place.set(bytes);
    // What is hashed is the copy: the script may write into its buffer again.
    digested = digestsOf(place, checksums);
  });
  return blob === undefined ? undefined : { ...digested!, home: { blob } };
}

async function stage(
  context: Context,
  pieces: AsyncIterable<Uint8Array>,
  form: PieceForm,
  { bucket, checksums = [], dataKey, part }: IntakeOptions,
): Promise<Intake> {
  const digests = startDigests(checksums, form.isLarge ? context.hashThreads : undefined);
  let blob: StagedBlob | undefined;
  try {
    const hashed = hashing(pieces, digests, form);
    blob = await context.blobs.stage(
      bucket,
      dataKey === undefined ? hashed : encrypt(context, dataKey, part, hashed),
    );
    const digested = await digests.finish();
    giveBack(form);
    return { ...digested, home: { blob } };
  } catch (error) {
    digests.abandon();
    await blob?.discard();
    throw error;
  }
}

function sealWhole(context: Context, bytes: Uint8Array, dataKey: Uint8Array, part: number) {
  return collect(encrypt(context, dataKey, part, once(bytes)));
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

/** So much memory do streams take that come in whole. */
const mostWholeBytes = 16 * 1024 * 1024;

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
