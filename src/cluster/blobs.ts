// The Blobs port of a cluster. A blob is recorded in the journal in the database before its bytes
// are written to the blob backend.
import type { Blobs, StagedBlob } from "../engine/blobs.ts";
import { StoreError } from "../model/errors.ts";
import type { BackendBlob, BlobBackend, BlobLocation } from "./backend/backend.ts";
import { blobId, parseBlobId } from "./bytes/blob-id.ts";
import type { GarbageCollectorOptions } from "./bytes/garbage-collector.ts";
import { createGarbageCollector, type GarbageCollector } from "./bytes/garbage-collector.ts";
import { createReadRefs } from "./bytes/read-refs.ts";
import type { Heartbeat } from "./postgres/heartbeat.ts";

export interface ClusterBlobsOptions extends Omit<GarbageCollectorOptions, "remove"> {
  /** Reads the stored bytes even if they are cached. Undefined without a cache. */
  readonly readUncached?: BlobBackend["read"] | undefined;
  readonly heartbeat: Heartbeat;
  readBucketId(bucket: string): Promise<string>;
  close(): Promise<void>;
}

/** Maximum number of blobs looked up in one statement. */
const batchSize = 500;

export function createClusterBlobs(options: ClusterBlobsOptions): Blobs {
  const { backend, journal, heartbeat, readBucketId, readUncached } = options;
  const readRefs = createReadRefs();
  const collector: GarbageCollector = createGarbageCollector({ ...options, remove });

  /** Removes the bytes of a blob. If that fails, the garbage collector retries. */
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

  function openWith(read: BlobBackend["read"]): Blobs["open"] {
    return async (_bucket, blobs, isReferenced) => {
      const endRead = heartbeat.beginRead();
      const releaseRefs = readRefs.acquire(blobs.map(({ id }) => id));
      const close = async () => {
        releaseRefs();
        endRead();
      };
      try {
        // Checked after the reference is acquired, so that a later removal sees the reference.
        if (await isReferenced()) {
          let reading: AsyncGenerator<Uint8Array> | undefined;
          return {
            read({ id }, range, into) {
              reading = read(parseBlobId(id), range, into);
              return reading;
            },
            release: backend.release,
            async close() {
              // A body that was not read to its end still has a connection or a file open.
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
    };
  }

  return {
    async stage(bucket, chunks) {
      const location = await journal.declareIntent(bucket);
      try {
        return toStagedBlob(location, await backend.write(location, chunks));
      } catch (error) {
        const cleanup = abandon(location).catch(() => {});
        // If the backend is unavailable, do not wait for the cleanup, which would also time out.
        if (!(error instanceof StoreError && error.reason === "ServiceUnavailable")) await cleanup;
        throw error;
      }
    },

    open: openWith(backend.read),
    ...(readUncached === undefined ? {} : { openUncached: openWith(readUncached) }),

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
