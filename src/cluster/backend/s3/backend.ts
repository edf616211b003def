// Blobs on an S3 service. A blob is one object, or several pieces where it is longer than a piece:
//   <prefix><bucket id>/<name>          the first piece
//   <prefix><bucket id>/<name>.000001   the next ones
import { randomBytes } from "node:crypto";
import { forEachLimit } from "../../../async/for-each-limit.ts";
import { sha256 } from "../../../http/sigv4.ts";
import type { ByteRange } from "../../../model/range.ts";
import type { S3Body } from "../../../s3-client/response-body.ts";
import type { Shelf, ShelfPlace, ShelvedBlob } from "../backend.ts";
import {
  blocksOf,
  createBlockDecoder,
  plainSize,
  storedBlockBytes,
  storedRange,
  storedSize,
} from "../block-format.ts";
import { createChunkRoom } from "../chunk-pool.ts";
import { type Marker, type OpenedMarker, openMarker } from "../marker.ts";
import type { S3Client, S3Page, S3Range } from "./client.ts";
import { createPieceRoom, type PieceLimits } from "./pieces.ts";

export interface S3ShelfOptions {
  readonly client: S3Client;
  /** Where it is, for people. */
  readonly where: string;
  readonly marker: Marker;
  readonly pieces?: PieceLimits | undefined;
}

const deletesAtOnce = 8;
/** The next piece is asked for when so much of the one before is left. */
const aheadBytes = 1024 * 1024;

export async function openS3Shelf({ client, where, marker, pieces }: S3ShelfOptions): Promise<Shelf> {
  const id = await openMarker(s3Marker(client), marker, where);
  const room = createPieceRoom(pieces);
  const chunkRoom = createChunkRoom();

  async function* listed(prefix: string): AsyncGenerator<S3Page["entries"][number]> {
    let after: string | undefined;
    do {
      const page: S3Page = await client.list(prefix, { after });
      yield* page.entries;
      after = page.next;
    } while (after !== undefined);
  }

  /** Asks for the next piece before the last bytes of the one before have come. */
  async function* storedBytes(parts: readonly PiecePart[]): AsyncGenerator<Uint8Array> {
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
          if (left <= aheadBytes && open.length === index + 1 && chunkRoom.readsAhead()) openNext();
          yield chunk;
        }
      }
    } finally {
      for (const body of open) body.leave();
    }
  }

  return {
    id,

    async write(place, chunks) {
      let isDoubtful = false;
      const written = await room.begin(place.name).write(chunks, async (piece, body) => {
        if ((await client.put(pieceKey(place, piece), body)) > 1) isDoubtful = true;
      });
      return { bucket: place.bucket, name: place.name, ...written, ...(isDoubtful ? { isDoubtful } : {}) };
    },

    async *read(blob, range, into) {
      if (range.length === 0) return;
      const leave = chunkRoom.enter();
      try {
        const decoder = createBlockDecoder({
          name: blob.name,
          size: blob.size,
          range,
          into,
          allocate: chunkRoom.allocate,
          groupBlocks: chunkRoom.groupBlocks(),
        });
        for await (const stored of storedBytes(piecesOf(blob, range))) yield* decoder.update(stored);
        decoder.finish();
      } finally {
        leave();
      }
    },

    release: chunkRoom.release,

    async has(blob) {
      const wanted = new Map(piecesOf(blob).map(({ key, range }) => [key, range.total]));
      if (wanted.size === 1) {
        const length = await client.head(keyOf(blob));
        // Also told of a bucket that is not there at all; asked for by a listing, that is an error.
        if (length === undefined) await client.list(keyOf(blob), { most: 1 });
        return length === storedSize(blob.size);
      }
      for await (const { key, size } of listed(keyOf(blob))) if (wanted.get(key) === size) wanted.delete(key);
      return wanted.size === 0;
    },

    async remove(blob) {
      await forEachLimit(pieceKeys(blob), deletesAtOnce, (key) => client.delete(key));
    },

    async removeRemains(place) {
      await forEachLimit(listed(keyOf(place)), deletesAtOnce, ({ key }) => client.delete(key));
    },

    async *all(bucket) {
      let found: ShelvedBlob | undefined;
      // Pieces of a blob stand together: their names begin with its own.
      for await (const { key, size: stored } of listed(`${bucket}/`)) {
        const name = /^([0-9a-f]{32})(?:\.\d{6})?$/.exec(key.slice(bucket.length + 1))?.[1];
        if (name === undefined) continue;
        const size = plainSize(stored);
        if (found?.name === name) {
          const pieceBlocks: number = found.pieceBlocks || blocksOf(found.size);
          found = { bucket, name, size: found.size + size, pieceBlocks };
        } else {
          if (found !== undefined) yield found;
          found = { bucket, name, size, pieceBlocks: 0 };
        }
      }
      if (found !== undefined) yield found;
    },

    // There are no folders on S3.
    removeBucket: async () => {},

    async close() {
      client.close();
    },
  };
}

function keyOf({ bucket, name }: ShelfPlace): string {
  return `${bucket}/${name}`;
}

function pieceKey(place: ShelfPlace, piece: number): string {
  return piece === 0 ? keyOf(place) : `${keyOf(place)}.${String(piece).padStart(6, "0")}`;
}

interface PiecePart {
  readonly key: string;
  readonly range: S3Range;
}

/** What of which pieces holds a range of a blob; one that is empty has a piece all the same. */
function piecesOf(blob: ShelvedBlob, range: ByteRange = { offset: 0, length: blob.size }): PiecePart[] {
  const whole = storedSize(blob.size);
  const pieceBytes = blob.pieceBlocks === 0 ? whole : blob.pieceBlocks * storedBlockBytes;
  if (whole === 0) return [{ key: keyOf(blob), range: { offset: 0, length: 0, total: 0 } }];
  const { offset, length } = storedRange(range, blob.size);
  const parts: PiecePart[] = [];
  for (let piece = Math.floor(offset / pieceBytes); piece * pieceBytes < offset + length; piece++) {
    const start = piece * pieceBytes;
    const total = Math.min(pieceBytes, whole - start);
    const first = Math.max(0, offset - start);
    const end = Math.min(total, offset + length - start);
    parts.push({ key: pieceKey(blob, piece), range: { offset: first, length: end - first, total } });
  }
  return parts;
}

function* pieceKeys(blob: ShelvedBlob): Generator<string> {
  const pieces = blob.pieceBlocks === 0 ? 1 : Math.ceil(blocksOf(blob.size) / blob.pieceBlocks);
  for (let piece = 0; piece < pieces; piece++) yield pieceKey(blob, piece);
}

const markerKey = "store-shelf";

function s3Marker(client: S3Client): OpenedMarker {
  return {
    read: () => client.getText(markerKey),
    async make() {
      const parts = [Buffer.from(`${randomBytes(16).toString("hex")}\n`)];
      const body = { parts, length: parts[0]!.length, sha256: sha256(parts[0]!) };
      await client.putNew(markerKey, body);
    },
  };
}
