// Taking bytes in: counts and hashes them as they pass, seals them when asked, and gives them a home,
// beside the record when they are few, else as a blob. Nothing is named until the caller commits.
import { createHash, type Hash } from "node:crypto";
import { type ExpectedChecksum, startHash, verifyChecksum } from "../model/checksum.ts";
import { StoreError } from "../model/errors.ts";
import { limits } from "../model/limits.ts";
import type { Checksums } from "../model/object.ts";
import type { StagedBlob } from "./blobs.ts";
import { collect, once, rechunk } from "./chunks.ts";
import type { Context } from "./context.ts";
import { encrypt } from "./encryption.ts";
import type { ByteStream, Source } from "./engine.ts";

export interface IntakeOptions {
  readonly bucket: string;
  /** Seals the bytes; with the part they are, 0 for a body of its own. */
  readonly dataKey?: Uint8Array | undefined;
  readonly part: number;
  readonly checksum?: ExpectedChecksum | undefined;
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
  const digests = startDigests(options.checksum);
  if (source instanceof Uint8Array && source.length <= options.inlineBytes) {
    // Copied before anything is awaited: the script may write into its buffer again.
    const bytes = Buffer.from(source);
    digests.update(bytes);
    return { ...digests.finish(), home: { inline: await sealWhole(context, bytes, options) } };
  }
  const counted = countAndHash(
    context,
    source instanceof Uint8Array ? once(source) : declared(source),
    digests,
  );
  const start = await firstBytes(counted, options.inlineBytes);
  if (start.ended) {
    return { ...digests.finish(), home: { inline: await sealWhole(context, start.bytes, options) } };
  }
  const all = resume(start.bytes, counted);
  const sealed = options.dataKey === undefined ? all : encrypt(context, options.dataKey, options.part, all);
  const blob = await context.blobs.stage(options.bucket, sealed);
  try {
    return { ...digests.finish(), home: { blob } };
  } catch (error) {
    await blob.discard();
    throw error;
  }
}

async function sealWhole(context: Context, bytes: Uint8Array, options: IntakeOptions): Promise<Uint8Array> {
  if (options.dataKey === undefined) return bytes;
  return collect(encrypt(context, options.dataKey, options.part, once(bytes)));
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

/**
 * Copies what comes into buffers of the engine's own before hashing: a script that writes into its chunk
 * again cannot make hash and bytes disagree.
 */
async function* countAndHash(
  context: Context,
  chunks: AsyncIterable<Uint8Array>,
  digests: Digests,
): AsyncGenerator<Uint8Array> {
  context.intakes.active++;
  try {
    let first = true;
    const size = () => {
      const bytes = first ? firstPieceBytes : pieceBytes(context.intakes.active);
      first = false;
      return bytes;
    };
    for await (const piece of rechunk(chunks, size)) {
      digests.update(piece);
      yield piece;
    }
  } finally {
    context.intakes.active--;
  }
}

/** Small bodies end in the first piece, so it stays small. */
const firstPieceBytes = 16 * 1024;

/** Large pieces while few streams come in; all of them together stay within a few tens of megabytes. */
function pieceBytes(active: number): number {
  if (active <= 32) return 256 * 1024;
  return active <= 256 ? 64 * 1024 : 32 * 1024;
}

interface Start {
  readonly bytes: Uint8Array;
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

async function* resume(start: Uint8Array, rest: AsyncGenerator<Uint8Array>): AsyncIterable<Uint8Array> {
  try {
    yield start;
    yield* rest;
  } finally {
    await rest.return(undefined);
  }
}

interface Digests {
  update(bytes: Uint8Array): void;
  finish(): { size: number; etag: string; checksums: Checksums };
}

function startDigests(expected: ExpectedChecksum | undefined): Digests {
  const md5 = createHash("md5");
  const other: Hash | undefined =
    expected === undefined || expected.algorithm === "md5" ? undefined : startHash(expected.algorithm);
  let size = 0;
  return {
    update(bytes) {
      size += bytes.length;
      if (size > limits.singleWriteBytes) throw new StoreError("EntityTooLarge");
      md5.update(bytes);
      other?.update(bytes);
    },
    finish() {
      const digest = md5.digest();
      const checksums: { -readonly [name in keyof Checksums]: Checksums[name] } = { md5: digest };
      if (expected !== undefined) {
        const actual = other === undefined ? digest : other.digest();
        verifyChecksum(expected, actual);
        checksums[expected.algorithm] = actual;
      }
      return { size, etag: digest.toString("hex"), checksums };
    },
  };
}
