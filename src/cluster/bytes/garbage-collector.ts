// Removes the leftovers of dead processes, orphaned intents, and the garbage of deleted buckets.
// Any number of processes can collect concurrently, and each can be interrupted at any point.
import type { BlobBackend, BlobLocation } from "../backend/backend.ts";
import type { BlobJournal } from "./blob-journal.ts";

export interface GarbageCollector {
  /** Returns the number of removed bodies. */
  collect(): Promise<number>;
}

export interface GarbageCollectorOptions {
  readonly backend: BlobBackend;
  readonly journal: BlobJournal;
  /** Seconds without a heartbeat after which a process counts as dead. */
  readonly processTimeoutSeconds: number;
  /** Seconds after which no byte of an abandoned write can still arrive. */
  readonly lateWriteSeconds: number;
  /** Removes the blobs. Returns false if a reader has them open. */
  remove(blobs: readonly string[]): Promise<boolean>;
}

const batchSize = 256;

export function createGarbageCollector(options: GarbageCollectorOptions): GarbageCollector {
  const { backend, journal, processTimeoutSeconds, lateWriteSeconds, remove } = options;
  /** Bytes may arrive late, so each name is removed again after `lateWriteSeconds`. */
  async function clearLeftovers(): Promise<number> {
    let cleared = 0;
    for (;;) {
      const late = await journal.leftovers(lateWriteSeconds, batchSize);
      await removeLeftovers(late);
      if (late.length > 0) await journal.ackLeftovers(late.map(({ name }) => name));
      cleared += late.length;
      if (late.length < batchSize) return cleared;
    }
  }

  async function removeLeftovers(locations: readonly BlobLocation[]): Promise<void> {
    for (const location of locations) await backend.removeLeftovers(location);
  }

  async function abandonOrphanedIntents(): Promise<void> {
    const orphaned = await journal.orphanedIntents();
    if (orphaned.length === 0) return;
    // Remove only names that are still intents: a commit may have referenced others since the
    // lookup.
    await removeLeftovers(await journal.abandon(orphaned.map(({ name }) => name)));
  }

  async function removeGarbageOfDeletedBuckets(): Promise<number> {
    let removed = 0;
    for (;;) {
      const garbage = await journal.garbageOfDeletedBuckets(batchSize);
      const removedBodies = [];
      for (const body of garbage) if (await remove(body.blobs)) removedBodies.push(body);
      if (removedBodies.length > 0) await journal.ackGarbage(removedBodies);
      removed += removedBodies.length;
      if (removedBodies.length < batchSize) return removed;
    }
  }

  return {
    async collect() {
      await journal.endSilentProcesses(processTimeoutSeconds);
      await abandonOrphanedIntents();
      const removed = (await clearLeftovers()) + (await removeGarbageOfDeletedBuckets());
      for (const bucket of await journal.emptiedBuckets()) {
        await backend.removeBucket(bucket);
        await journal.ackBucketRemoval(bucket);
      }
      return removed;
    },
  };
}
