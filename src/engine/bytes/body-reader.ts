// Reads a range of a stored body. An open reader keeps its version, even if the object is
// overwritten or deleted. The file of a body that is not read for a minute is closed.
import { clearTimeout, setTimeout } from "node:timers";
import { StoreError } from "../../model/errors.ts";
import type { ByteRange } from "../../model/range.ts";
import type { BlobReader } from "../blobs.ts";
import type { Context } from "../context.ts";
import { type DataKey, sealedSize } from "../encryption/sealed-blocks.ts";
import { decrypt, decryptWhole } from "../encryption/sealed-reader.ts";
import type { ObjectBytes } from "../engine.ts";
import type { Body } from "../records.ts";
import { once } from "./byte-streams.ts";
import { type FoundSegments, findSegments, type Segment } from "./find-segments.ts";

export interface BodyRequest {
  readonly bucket: string;
  /** Size of the whole body. */
  readonly size: number;
  readonly range: ByteRange;
  readonly dataKey: DataKey | undefined;
  /** Whether a record still references this body. */
  readonly isReferenced: () => Promise<boolean>;
  /** Returns where this version's bytes are now; undefined if the version is not current. */
  readonly currentBody: () => Promise<Body | undefined>;
}

/** Time after which the file of an unread body is closed. */
const unreadMilliseconds = 60_000;

/** Returns undefined if the body was removed, because the object has a newer version. */
export async function openBody(
  context: Context,
  body: Body,
  request: BodyRequest,
): Promise<ObjectBytes | undefined> {
  if (body.storage === "inline") {
    checkLength(context, request, { size: request.size, stored: body.bytes.length });
    return inlineBytes(openInline(context, body.bytes, request));
  }
  const find = (stored: Exclude<Body, { storage: "inline" }>) => findIn(context, stored, request);
  let found = find(body);
  const open = () => {
    const { first, segments } = found;
    const blobs = segments.map(({ blob }) => blob);
    // The first blob identifies the body.
    if (segments[0] !== first) blobs.unshift(first.blob);
    return context.blobs.open(request.bucket, blobs, request.isReferenced);
  };
  const reopen = async () => {
    const reader = await open();
    const now = reader === undefined ? await request.currentBody() : undefined;
    if (now === undefined || now.storage === "inline") return reader;
    // Compaction moved the bytes while the file was closed.
    found = find(now);
    return open();
  };
  const reader = await open();
  if (reader === undefined) return undefined;
  return toObjectBytes(reader, reopen, request.range.length, (opened, into) =>
    readSegments(context, opened, found, request, into),
  );
}

function findIn(
  context: Context,
  body: Exclude<Body, { storage: "inline" }>,
  request: BodyRequest,
): FoundSegments {
  const check = ({ size, blob }: Segment) => checkLength(context, request, { size, stored: blob.size });
  const found = body.storage === "parts" ? body.findParts?.(request.range) : undefined;
  if (found === undefined) return findSegments(toSegments(body, request), request.range, check);
  for (const segment of found.segments) check(segment);
  return found;
}

/** Throws if the body was truncated or extended. */
function checkLength(
  { blockBytes }: Context,
  { dataKey }: BodyRequest,
  { size, stored }: { readonly size: number; readonly stored: number },
): void {
  if (stored === (dataKey === undefined ? size : sealedSize(size, blockBytes))) return;
  throw new StoreError("Damaged", {
    detail: "The stored data is damaged: a body is not as long as its record says.",
  });
}

/** Small bodies that were decrypted, as long as their stored bytes are cached by the adapter. */
const openedBodies = new WeakMap<Uint8Array, { readonly dataKey: DataKey; readonly plain: Uint8Array }>();

function openInline(context: Context, stored: Uint8Array, request: BodyRequest): Uint8Array {
  const { range, dataKey, size } = request;
  if (dataKey === undefined) return stored.subarray(range.offset, range.offset + range.length);
  const opened = openedBodies.get(stored);
  const isOpened = opened?.dataKey === dataKey;
  const plain = isOpened ? opened.plain : decryptWhole(context, dataKey, size, stored);
  // What only a customer can decrypt is not kept.
  if (!isOpened && dataKey.use === "direct") openedBodies.set(stored, { dataKey, plain });
  return plain.subarray(range.offset, range.offset + range.length);
}

function inlineBytes(bytes: Uint8Array): ObjectBytes {
  return {
    length: bytes.length,
    inline: bytes,
    chunks: () => once(new Uint8Array(bytes)),
    cancel: async () => {},
  };
}

function toSegments(body: Exclude<Body, { storage: "inline" }>, { size }: BodyRequest): readonly Segment[] {
  return body.storage === "blob" ? [{ number: 0, size, blob: body.blob }] : body.parts;
}

async function* readSegments(
  context: Context,
  reader: BlobReader,
  { segments, offset: firstOffset }: FoundSegments,
  { range, dataKey }: BodyRequest,
  into: Uint8Array | undefined,
): AsyncIterable<Uint8Array> {
  let start = firstOffset;
  let delivered = 0;
  for (const { number, size, blob } of segments) {
    const offset = Math.max(0, range.offset - start);
    const length = Math.min(size, range.offset + range.length - start) - offset;
    start += size;
    if (length <= 0) continue;
    const blobRange = { offset, length };
    const target = into?.subarray(delivered, delivered + length);
    delivered += length;
    if (dataKey === undefined) yield* reader.read(blob, blobRange, target);
    else {
      const read = (stored: ByteRange) => reader.read(blob, stored);
      const release = (chunk: Uint8Array) => reader.release?.(chunk);
      yield* decrypt(context, dataKey, number, size, blobRange, { read, release });
    }
  }
}

/** Closes readers of bodies that a script dropped without reading to the end or cancelling. */
const leakedReaders = new FinalizationRegistry<BlobReader>((reader) => {
  reader.close().catch(() => {
    // Ignored: the body was dropped, and its descriptor is closed either way.
  });
});

function toObjectBytes(
  opened: BlobReader,
  reopen: () => Promise<BlobReader | undefined>,
  length: number,
  read: (reader: BlobReader, into: Uint8Array | undefined) => AsyncIterable<Uint8Array>,
): ObjectBytes {
  let reader: BlobReader | undefined = opened;
  const holder = {};
  leakedReaders.register(holder, opened, holder);

  async function close(): Promise<void> {
    clearTimeout(timer);
    leakedReaders.unregister(holder);
    const closing = reader;
    reader = undefined;
    await closing?.close();
  }

  const timer = setTimeout(() => {
    close().catch(() => {
      // Ignored: if the body is read later, the file is opened again, and an error is reported
      // then.
    });
  }, unreadMilliseconds).unref();

  async function* chunks(into?: Uint8Array): AsyncGenerator<Uint8Array> {
    clearTimeout(timer);
    reader ??= await reopen();
    if (reader === undefined) throw replacedWhileUnread();
    try {
      yield* read(reader, into);
    } finally {
      await close();
    }
  }
  return {
    length,
    inline: undefined,
    chunks,
    release: (chunk) => reader?.release?.(chunk),
    cancel: close,
  };
}

function replacedWhileUnread(): StoreError {
  return new StoreError("NoSuchKey", {
    detail: "The object was replaced or deleted while its body waited unread for more than a minute.",
  });
}
