// The collector: clears away what processes that died have left, what commits that never happened were to name, and what
// was buried in buckets that are gone. Any number of processes may collect at once, and be cut off anywhere.

import type { Shelf, ShelfPlace } from "../backend/backend.ts";
import type { Ledger } from "./blob-ledger.ts";

export interface Collector {
  /** How many bodies were removed. */
  collect(): Promise<number>;
}

export interface CollectorOptions {
  readonly shelf: Shelf;
  readonly ledger: Ledger;
  readonly silentSeconds: number;
  readonly lateSeconds: number;
  /** False when a reader still holds them. */
  remove(blobs: readonly string[]): Promise<boolean>;
}

const batch = 256;

export function createCollector({
  shelf,
  ledger,
  silentSeconds,
  lateSeconds,
  remove,
}: CollectorOptions): Collector {
  /** Bytes that may still arrive are not gone when they are removed: these are removed again when they are late. */
  async function clearRemains(): Promise<number> {
    let cleared = 0;
    for (;;) {
      const late = await ledger.remains(lateSeconds, batch);
      await removeAll(late);
      if (late.length > 0) await ledger.cleared(late.map(({ name }) => name));
      cleared += late.length;
      if (late.length < batch) return cleared;
    }
  }

  async function removeAll(places: readonly ShelfPlace[]): Promise<void> {
    for (const place of places) await shelf.removeRemains(place);
  }

  async function giveUpForgotten(): Promise<void> {
    const forgotten = await ledger.forgotten();
    if (forgotten.length === 0) return;
    // Only what was still an intent: a commit may have named one of them since they were looked up.
    await removeAll(await ledger.giveUp(forgotten.map(({ name }) => name)));
  }

  async function removeDeadOfDeleted(): Promise<number> {
    let removed = 0;
    for (;;) {
      const dead = await ledger.deadOfDeleted(batch);
      const gone = [];
      for (const body of dead) if (await remove(body.blobs)) gone.push(body);
      if (gone.length > 0) await ledger.forget(gone);
      removed += gone.length;
      if (gone.length < batch) return removed;
    }
  }

  return {
    async collect() {
      await ledger.endSilent(silentSeconds);
      await giveUpForgotten();
      const removed = (await clearRemains()) + (await removeDeadOfDeleted());
      for (const bucket of await ledger.emptied()) {
        await shelf.removeBucket(bucket);
        await ledger.isGone(bucket);
      }
      return removed;
    },
  };
}
