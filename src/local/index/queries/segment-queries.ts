// Queries which blobs a segment contains, in the table of blobs and in the existence index.
import { existenceKey, parseExistenceKey } from "../existence-index.ts";
import { type Database, prepareArrays } from "../sqlite.ts";

export interface SegmentQueries {
  /** Blobs of a segment that a commit has referenced and no sweep has removed, sorted by offset. */
  blobsIn(bucketId: string, segment: string): SegmentBlob[];
  hasBlobsIn(bucketId: string, segment: string): boolean;
  /** Whether this blob is the body of a version of the key. */
  isBody(key: Uint8Array, blob: string): boolean;
}

export interface SegmentBlob {
  readonly id: string;
  /** The key of the blob's object, if known. */
  readonly key: Uint8Array | undefined;
}

type BlobRow = readonly [id: string, key: Uint8Array | null];

export function createSegmentQueries(database: Database): SegmentQueries {
  const sql = prepareStatements(database);
  return {
    blobsIn(bucketId, segment) {
      const keys = new Map<string, Uint8Array | undefined>();
      for (const [indexKey] of sql.indexedBlobs.all(...existenceKey.blobsIn(bucketId, segment))) {
        const entry = parseExistenceKey(indexKey);
        if (entry?.kind === "blob") keys.set(entry.id, undefined);
      }
      for (const [id, key] of sql.blobs.all(...idRange(bucketId, segment))) keys.set(id, key ?? undefined);
      return [...keys].map(([id, key]) => ({ id, key })).sort((a, b) => (a.id < b.id ? -1 : 1));
    },
    hasBlobsIn: (bucketId, segment) =>
      sql.anyBlob.get(...idRange(bucketId, segment)) !== undefined ||
      sql.anyIndexedBlob.get(...existenceKey.blobsIn(bucketId, segment)) !== undefined,
    isBody: (key, blob) => sql.body.get(key, blob) !== undefined || sql.pastBody.get(blob, key) !== undefined,
  };
}

/** Returns the range of the ids of a segment's blobs. It contains no other ids. */
function idRange(bucketId: string, segment: string): [from: string, to: string] {
  return [`${bucketId}.${segment}.`, `${bucketId}.${segment}/`];
}

function prepareStatements(database: Database) {
  const sql = <Row extends readonly unknown[]>(text: string) => prepareArrays<Row>(database, text);
  return {
    blobs: sql<BlobRow>("SELECT id, key FROM blobs WHERE id >= ? AND id < ?"),
    anyBlob: sql("SELECT 1 FROM blobs WHERE id >= ? AND id < ? LIMIT 1"),
    indexedBlobs: sql<[indexKey: Uint8Array]>("SELECT place FROM witness WHERE place >= ? AND place < ?"),
    anyIndexedBlob: sql("SELECT 1 FROM witness WHERE place >= ? AND place < ? LIMIT 1"),
    body: sql("SELECT 1 FROM objects WHERE key = ? AND blob = ?"),
    pastBody: sql("SELECT 1 FROM history WHERE blob = ? AND key = ?"),
  };
}
