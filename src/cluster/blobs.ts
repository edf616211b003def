// Blobs past one machine: bytes on a shelf, and in the database a book of them that is written first.
import type { Blobs, StagedBlob } from "../engine/blobs.ts";
import { StoreError } from "../model/errors.ts";
import type { Shelf, ShelfPlace, ShelvedBlob } from "./backend/backend.ts";
import { blobId, parseBlobId } from "./bytes/blob-id.ts";
import type { Ledger } from "./bytes/blob-ledger.ts";
import { type Collector, createCollector } from "./bytes/garbage-collector.ts";
import { createHolds } from "./bytes/read-holds.ts";
import type { Presence } from "./postgres/heartbeat.ts";

export interface ClusterBlobsOptions {
  readonly shelf: Shelf;
  readonly ledger: Ledger;
  readonly presence: Presence;
  /** The id of a bucket. */
  idOf(bucket: string): Promise<string>;
  /** Seconds without a sign of life after which a process is taken for dead. */
  readonly silentSeconds: number;
  /** Seconds after which nothing of a write that came to nothing can still arrive. */
  readonly lateSeconds: number;
  close(): Promise<void>;
}

function isUnavailable(error: unknown): boolean {
  return error instanceof StoreError && error.reason === "ServiceUnavailable";
}

/** Names looked up at once. */
const batch = 500;

export function createClusterBlobs(options: ClusterBlobsOptions): Blobs {
  const { shelf, ledger, presence, idOf } = options;
  const holds = createHolds();
  const collector: Collector = createCollector({ ...options, remove });

  /** Nobody waits for this: what fails is found and done again by the collector. */
  async function giveUp(place: ShelfPlace): Promise<void> {
    await ledger.giveUp([place.name]);
    await shelf.removeRemains(place);
  }

  function staged(place: ShelfPlace, blob: ShelvedBlob): StagedBlob {
    return {
      id: blobId(blob),
      size: blob.size,
      keep: () => ledger.letGo(place),
      discard: () => giveUp(place),
      leave: () => ledger.letGo(place),
    };
  }

  async function remove(blobs: readonly string[]): Promise<boolean> {
    if (holds.isHeld(blobs)) return false;
    for (const blob of blobs) await shelf.remove(parseBlobId(blob));
    return true;
  }

  return {
    async stage(bucket, chunks) {
      const place = await ledger.intend(bucket);
      try {
        return staged(place, await shelf.write(place, chunks));
      } catch (error) {
        const givenUp = giveUp(place).catch(() => {});
        // Where the shelf is away nobody waits for it once more.
        if (!isUnavailable(error)) await givenUp;
        throw error;
      }
    },

    async open(_bucket, blobs, stillNamed) {
      const endRead = presence.beginRead();
      const letGo = holds.hold(blobs.map(({ id }) => id));
      const close = async () => {
        letGo();
        endRead();
      };
      try {
        // Asked behind the hold: whoever buries these after this sees it before removing them.
        if (await stillNamed()) {
          const { read, release } = shelf;
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
      const id = await idOf(bucket);
      let found: ShelvedBlob[] = [];
      for await (const blob of shelf.all(id)) {
        found.push(blob);
        if (found.length < batch) continue;
        yield* await settled(found, which);
        found = [];
      }
      yield* await settled(found, which);
    },

    close: options.close,
  };

  async function settled(
    found: readonly ShelvedBlob[],
    which: "all" | "settled",
  ): Promise<readonly string[]> {
    if (which === "all" || found.length === 0) return found.map(blobId);
    const unsettled = await ledger.unsettled(found.map(({ name }) => name));
    return found.filter(({ name }) => !unsettled.has(name)).map(blobId);
  }
}
