// Blobs past one machine: bytes on a shelf, and in the database a book of them that is written first.
import type { Blobs, StagedBlob } from "../engine/blobs.ts";
import { StoreError } from "../model/errors.ts";
import type { BackendBlob, BlobBackend, BlobLocation } from "./backend/backend.ts";
import { blobId, parseBlobId } from "./bytes/blob-id.ts";
import type { BlobJournal } from "./bytes/blob-journal.ts";
import { createGarbageCollector, type GarbageCollector } from "./bytes/garbage-collector.ts";
import { createReadRefs } from "./bytes/read-refs.ts";
import type { Heartbeat } from "./postgres/heartbeat.ts";

export interface ClusterBlobsOptions {
  readonly backend: BlobBackend;
  readonly journal: BlobJournal;
  readonly heartbeat: Heartbeat;
  /** The id of a bucket. */
  readBucketId(bucket: string): Promise<string>;
  /** Seconds without a sign of life after which a process is taken for dead. */
  readonly processTimeoutSeconds: number;
  /** Seconds after which nothing of a write that came to nothing can still arrive. */
  readonly lateWriteSeconds: number;
  close(): Promise<void>;
}

function isUnavailable(error: unknown): boolean {
  return error instanceof StoreError && error.reason === "ServiceUnavailable";
}

/** Names looked up at once. */
const batchSize = 500;

export function createClusterBlobs(options: ClusterBlobsOptions): Blobs {
  const { backend, journal, heartbeat, readBucketId } = options;
  const readRefs = createReadRefs();
  const collector: GarbageCollector = createGarbageCollector({ ...options, remove });

  /** Nobody waits for this: what fails is found and done again by the collector. */
  async function abandon(location: BlobLocation): Promise<void> {
    await journal.abandon([location.name]);
    await backend.removeLeftovers(location);
  }

  function toStagedBlob(location: BlobLocation, blob: BackendBlob): StagedBlob {
    return {
      id: blobId(blob),
      size: blob.size,
      keep: () => journal.release(location),
      discard: () => abandon(location),
      leaveForRecovery: () => journal.release(location),
    };
  }

  async function remove(blobs: readonly string[]): Promise<boolean> {
    if (readRefs.has(blobs)) return false;
    for (const blob of blobs) await backend.remove(parseBlobId(blob));
    return true;
  }

  return {
    async stage(bucket, chunks) {
      const location = await journal.declareIntent(bucket);
      try {
        return toStagedBlob(location, await backend.write(location, chunks));
      } catch (error) {
        const cleanup = abandon(location).catch(() => {});
        // Where the shelf is away nobody waits for it once more.
        if (!isUnavailable(error)) await cleanup;
        throw error;
      }
    },

    async open(_bucket, blobs, isReferenced) {
      const endRead = heartbeat.beginRead();
      const releaseRefs = readRefs.acquire(blobs.map(({ id }) => id));
      const close = async () => {
        releaseRefs();
        endRead();
      };
      try {
        // Asked behind the hold: whoever buries these after this sees it before removing them.
        if (await isReferenced()) {
          const { read, release } = backend;
          let reading: AsyncGenerator<Uint8Array> | undefined;
          return {
            read({ id }, range, into) {
              reading = read(parseBlobId(id), range, into);
              return reading;
            },
            release,
            async close() {
              // Of a body dropped half read nobody else ends it, and it holds a connection or a file.
              reading?.return(undefined).catch(() => {});
              await close();
            },
          };
        }
      } catch (error) {
        await close();
        throw error;
      }
      await close();
      return undefined;
    },

    remove: (_bucket, blobs) => remove(blobs),
    recover: () => collector.collect(),

    async *all(bucket, which = "all") {
      const id = await readBucketId(bucket);
      let found: BackendBlob[] = [];
      for await (const blob of backend.all(id)) {
        found.push(blob);
        if (found.length < batchSize) continue;
        yield* await filterSettled(found, which);
        found = [];
      }
      yield* await filterSettled(found, which);
    },

    close: options.close,
  };

  async function filterSettled(
    found: readonly BackendBlob[],
    which: "all" | "settled",
  ): Promise<readonly string[]> {
    if (which === "all" || found.length === 0) return found.map(blobId);
    const unsettled = await journal.unsettled(found.map(({ name }) => name));
    return found.filter(({ name }) => !unsettled.has(name)).map(blobId);
  }
}
