// Taking bytes in: counts and hashes them as they pass, seals them when asked, and gives them a home,
// beside the record when they are few, else as a blob. Nothing is named until the caller commits.
import type { ExpectedChecksum } from "../../model/checksum.ts";
import { StoreError } from "../../model/errors.ts";
import { limits } from "../../model/limits.ts";
import type { Checksums } from "../../model/object.ts";
import type { BatchedBlobs, StagedBlob } from "../blobs.ts";
import type { Context } from "../context.ts";
import type { ByteStream, Source } from "../engine.ts";
import { collect, once } from "./byte-streams.ts";
import { computeDigests, type DigestResult, startDigests } from "./digests.ts";
import { encrypt } from "./encryption.ts";
import {
  type BufferPlan,
  bufferBody,
  hashChunks,
  planBuffers,
  readDeclared,
  releaseBuffers,
} from "./ring-buffers.ts";
import { randomEtag } from "./sealed-checksums.ts";

export interface IngestOptions {
  readonly bucket: string;
  /** Seals the bytes; with the part they are, 0 for a body of its own. */
  readonly dataKey?: Uint8Array | undefined;
  readonly part: number;
  readonly checksums?: readonly ExpectedChecksum[] | undefined;
  /** Bodies up to this size are returned, not staged. */
  readonly inlineBytes: number;
}

export interface IngestedBody {
  /** Bytes as the sender counts them. */
  readonly size: number;
  readonly etag: string;
  readonly checksums: Checksums;
  readonly storage: { readonly inline: Uint8Array } | { readonly blob: StagedBlob };
}

/** Refuses a source whose declared length alone is too much, before a byte is read. */
export function checkDeclaredLength(source: Source): void {
  if ((source.length ?? 0) > limits.singleWriteBytes) throw new StoreError("EntityTooLarge");
}

/** The etag of plain bytes is their MD5; of bytes under a customer's key it says nothing about them. */
export function ingest(context: Context, source: Source, options: IngestOptions): Promise<IngestedBody> {
  const received = receive(context, source, options);
  if (options.dataKey === undefined) return received;
  return received.then((body) => ({ ...body, etag: randomEtag(context) }));
}

async function receive(context: Context, source: Source, options: IngestOptions): Promise<IngestedBody> {
  if (source instanceof Uint8Array && source.length <= options.inlineBytes) {
    // Copied before anything is awaited: the script may write into its buffer again.
    return ingestInline(context, Buffer.from(source), options);
  }
  if (
    !(source instanceof Uint8Array) &&
    source.length !== undefined &&
    source.length <= options.inlineBytes
  ) {
    return ingestInline(context, await readWhole(source, source.length), options);
  }
  const batched = await ingestBatched(context, source, options);
  if (batched !== undefined) return batched;
  const plan = planBuffers(context, source);
  const chunks = bufferBody(context, source, plan);
  const start = await readFirstBytes(chunks, options.inlineBytes);
  if (start.isComplete) return ingestInline(context, start.bytes!, options);
  try {
    return await stage(context, resume(start, chunks), plan, options);
  } catch (error) {
    // Refused before the rest was asked for, it has begun and would never end: it counts, and holds a buffer.
    await chunks.return(undefined);
    throw error;
  }
}

async function ingestInline(
  context: Context,
  bytes: Uint8Array,
  options: IngestOptions,
): Promise<IngestedBody> {
  const { size, etag, checksums } = computeDigests(bytes, options.checksums ?? []);
  const { dataKey, part } = options;
  const inline = dataKey === undefined ? bytes : await sealWhole(context, bytes, dataKey, part);
  return { size, etag, checksums, storage: { inline } };
}

/** A whole body among others; undefined when it is to be staged by itself. */
async function ingestBatched(
  context: Context,
  source: Source,
  options: IngestOptions,
): Promise<IngestedBody | undefined> {
  const { ingests, blobs } = context;
  const { length } = source;
  if (blobs.batched === undefined || options.dataKey !== undefined || options.part !== 0) return undefined;
  if (length === undefined || length > blobs.batched.maxBytes) return undefined;
  if (source instanceof Uint8Array) return stageBatched(blobs.batched, source, options);
  // A stream comes in first, so that nobody waits for its sender; where too many do, each by itself.
  if (ingests.wholeBodyBytes + length > maxWholeBodyBytes) return undefined;
  ingests.wholeBodyBytes += length;
  try {
    const bytes = await readWhole(source, length);
    const batched = await stageBatched(blobs.batched, bytes, options);
    return batched ?? (await stage(context, once(bytes), planBuffers(context, bytes), options));
  } finally {
    ingests.wholeBodyBytes -= length;
  }
}

async function stageBatched(
  batched: BatchedBlobs,
  bytes: Uint8Array,
  { bucket, checksums = [] }: IngestOptions,
): Promise<IngestedBody | undefined> {
  let digest: DigestResult | undefined;
  const blob = await batched.stage(bucket, bytes.length, (target) => {
    target.set(bytes);
    // What is hashed is the copy: the script may write into its buffer again.
    digest = computeDigests(target, checksums);
  });
  return blob === undefined ? undefined : { ...digest!, storage: { blob } };
}

async function stage(
  context: Context,
  chunks: AsyncIterable<Uint8Array>,
  plan: BufferPlan,
  { bucket, checksums = [], dataKey, part }: IngestOptions,
): Promise<IngestedBody> {
  const digests = startDigests(checksums, plan.isLarge ? context.hashThreads : undefined);
  let blob: StagedBlob | undefined;
  try {
    const hashed = hashChunks(chunks, digests, plan);
    blob = await context.blobs.stage(
      bucket,
      dataKey === undefined ? hashed : encrypt(context, dataKey, part, hashed),
    );
    const digest = await digests.finish();
    releaseBuffers(plan);
    return { ...digest, storage: { blob } };
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
async function readWhole(stream: ByteStream, length: number): Promise<Uint8Array> {
  const whole = Buffer.allocUnsafe(length);
  let filled = 0;
  for await (const chunk of readDeclared(stream)) {
    whole.set(chunk, filled);
    filled += chunk.length;
  }
  return whole;
}

/** So much memory do streams take that come in whole. */
const maxWholeBodyBytes = 16 * 1024 * 1024;

interface FirstBytes {
  /** Let go of once they are passed on: a body may take hours behind them. */
  bytes: Uint8Array | undefined;
  readonly isComplete: boolean;
}

/** Reads until there is more than fits inline, or no more at all. */
async function readFirstBytes(chunks: AsyncGenerator<Uint8Array>, inlineBytes: number): Promise<FirstBytes> {
  const copies: Uint8Array[] = [];
  let size = 0;
  while (size <= inlineBytes) {
    const next = await chunks.next();
    if (next.done === true) return { bytes: Buffer.concat(copies), isComplete: true };
    // A copy: the buffer of a piece is used again.
    copies.push(new Uint8Array(next.value));
    size += next.value.length;
  }
  return { bytes: copies.length === 1 ? copies[0]! : Buffer.concat(copies), isComplete: false };
}

async function* resume(start: FirstBytes, rest: AsyncGenerator<Uint8Array>): AsyncIterable<Uint8Array> {
  try {
    yield start.bytes!;
    start.bytes = undefined;
    yield* rest;
  } finally {
    await rest.return(undefined);
  }
}
