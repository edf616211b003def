// Blobs on an S3 service. A blob is one object, or several objects if it is longer than one piece:
//   <prefix><bucket id>/<name>          the first piece
//   <prefix><bucket id>/<name>.000001   the second piece, and so on
import { Buffer } from "node:buffer";
import { randomBytes } from "node:crypto";
import { forEachLimit } from "../../../async/for-each-limit.ts";
import { sha256 } from "../../../http/sigv4.ts";
import type { ByteRange } from "../../../model/range.ts";
import type { S3Body } from "../../../s3-client/response-body.ts";
import type { BackendBlob, BlobBackend, BlobLocation } from "../backend.ts";
import {
  countBlocks,
  createBlockDecoder,
  plainSize,
  storedBlockBytes,
  storedRange,
  storedSize,
} from "../block-format.ts";
import { createChunkPool } from "../chunk-pool.ts";
import { type MarkerMode, openMarker, type StoredMarker } from "../marker.ts";
import type { S3Client, S3Page, S3Range } from "./client.ts";
import { createPieceBufferPool, type PieceLimits } from "./piece-buffer-pool.ts";

export interface S3BackendOptions {
  readonly client: S3Client;
  /** The location without secrets, used in error messages. */
  readonly where: string;
  readonly marker: MarkerMode;
  readonly pieces?: PieceLimits | undefined;
}

const deleteConcurrency = 8;
/** The next piece is requested when this many bytes of the current piece are left. */
const readAheadBytes = 1024 * 1024;

export async function openS3Backend(options: S3BackendOptions): Promise<BlobBackend> {
  const { client, where, marker, pieces } = options;
  const id = await openMarker(s3Marker(client), marker, where);
  const bufferPool = createPieceBufferPool(pieces);
  const chunkPool = createChunkPool();

  async function* listEntries(prefix: string): AsyncGenerator<S3Page["entries"][number]> {
    let after: string | undefined;
    do {
      const page: S3Page = await client.list(prefix, { after });
      yield* page.entries;
      after = page.next;
    } while (after !== undefined);
  }

  /** Requests the next piece before the last bytes of the current piece have arrived. */
  async function* storedBytes(parts: readonly PieceRange[]): AsyncGenerator<Uint8Array> {
    const open: S3Body[] = [];
    const openNext = () => {
      const part = parts[open.length];
      if (part !== undefined) open.push(client.get(part.key, part.range));
    };
    try {
      for (const [index, { range }] of parts.entries()) {
        if (open.length === index) openNext();
        let left = range.length;
        const body = open[index]!;
        for (let chunk = await body.next(); chunk !== undefined; chunk = await body.next()) {
          left -= chunk.length;
          if (left <= readAheadBytes && open.length === index + 1 && chunkPool.allowsReadAhead()) openNext();
          yield chunk;
        }
      }
    } finally {
      for (const body of open) body.cancel();
    }
  }

  return {
    id,

    async write(location, chunks) {
      let isDoubtful = false;
      const written = await bufferPool.createWriter(location.name).write(chunks, async (piece, body) => {
        if ((await client.put(pieceKey(location, piece), body)) > 1) isDoubtful = true;
      });
      return {
        bucket: location.bucket,
        name: location.name,
        ...written,
        ...(isDoubtful ? { isDoubtful } : {}),
      };
    },

    async *read(blob, range, into) {
      if (range.length === 0) return;
      const endRead = chunkPool.beginRead();
      try {
        const decoder = createBlockDecoder({
          name: blob.name,
          size: blob.size,
          range,
          into,
          allocate: chunkPool.allocate,
          groupBlocks: chunkPool.groupBlocks(),
        });
        for await (const stored of storedBytes(pieceRanges(blob, range))) yield* decoder.update(stored);
        decoder.finish();
      } finally {
        endRead();
      }
    },

    release: chunkPool.release,

    async has(blob) {
      const missing = new Map(pieceRanges(blob).map(({ key, range }) => [key, range.total]));
      if (missing.size === 1) {
        const length = await client.head(blobKey(blob));
        // HEAD also returns 404 if the bucket is missing. In that case the listing throws.
        if (length === undefined) await client.list(blobKey(blob), { limit: 1 });
        return length === storedSize(blob.size);
      }
      for await (const { key, size } of listEntries(blobKey(blob)))
        if (missing.get(key) === size) missing.delete(key);
      return missing.size === 0;
    },

    async remove(blob) {
      await forEachLimit(pieceKeys(blob), { concurrency: deleteConcurrency }, (key) => client.delete(key));
    },

    async removeLeftovers(location) {
      await forEachLimit(listEntries(blobKey(location)), { concurrency: deleteConcurrency }, ({ key }) =>
        client.delete(key),
      );
    },

    async *all(bucket) {
      let found: BackendBlob | undefined;
      // The pieces of a blob are adjacent in the listing: their keys start with the blob's key.
      for await (const { key, size: stored } of listEntries(`${bucket}/`)) {
        const name = /^([0-9a-f]{32})(?:\.\d{6})?$/.exec(key.slice(bucket.length + 1))?.[1];
        if (name === undefined) continue;
        const size = plainSize(stored);
        if (found?.name === name) {
          const pieceBlocks: number = found.pieceBlocks || countBlocks(found.size);
          found = { bucket, name, size: found.size + size, pieceBlocks };
        } else {
          if (found !== undefined) yield found;
          found = { bucket, name, size, pieceBlocks: 0 };
        }
      }
      if (found !== undefined) yield found;
    },

    // Nothing to remove: S3 has no folders.
    removeBucket: async () => {},

    async close() {
      client.close();
    },
  };
}

function blobKey({ bucket, name }: BlobLocation): string {
  return `${bucket}/${name}`;
}

function pieceKey(location: BlobLocation, piece: number): string {
  return piece === 0 ? blobKey(location) : `${blobKey(location)}.${String(piece).padStart(6, "0")}`;
}

interface PieceRange {
  readonly key: string;
  readonly range: S3Range;
}

/** Returns the pieces, with ranges, that contain a range of a blob. An empty blob has one piece. */
function pieceRanges(blob: BackendBlob, range: ByteRange = { offset: 0, length: blob.size }): PieceRange[] {
  const whole = storedSize(blob.size);
  const pieceBytes = blob.pieceBlocks === 0 ? whole : blob.pieceBlocks * storedBlockBytes;
  if (whole === 0) return [{ key: blobKey(blob), range: { offset: 0, length: 0, total: 0 } }];
  const { offset, length } = storedRange(range, blob.size);
  const parts: PieceRange[] = [];
  for (let piece = Math.floor(offset / pieceBytes); piece * pieceBytes < offset + length; piece++) {
    const start = piece * pieceBytes;
    const total = Math.min(pieceBytes, whole - start);
    const first = Math.max(0, offset - start);
    const end = Math.min(total, offset + length - start);
    parts.push({ key: pieceKey(blob, piece), range: { offset: first, length: end - first, total } });
  }
  return parts;
}

function* pieceKeys(blob: BackendBlob): Generator<string> {
  const pieceCount = blob.pieceBlocks === 0 ? 1 : Math.ceil(countBlocks(blob.size) / blob.pieceBlocks);
  for (let piece = 0; piece < pieceCount; piece++) yield pieceKey(blob, piece);
}

const markerKey = "store-shelf";

function s3Marker(client: S3Client): StoredMarker {
  return {
    read: () => client.getText(markerKey),
    async make() {
      const parts = [Buffer.from(`${randomBytes(16).toString("hex")}\n`)];
      const body = { parts, length: parts[0]!.length, sha256: sha256(parts[0]!) };
      await client.putNew(markerKey, body);
    },
  };
}
