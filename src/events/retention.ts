// Drops waiting events: those older than their rule keeps them, also if nothing delivers for the rule
// any more, and the oldest of a bucket that has too many. Writes never fail because of a receiver.
import type { Engine } from "../engine/engine.ts";
import type { Documents } from "../engine/records.ts";
import { errorMessage } from "../model/errors.ts";
import type { NotificationRule } from "../model/settings/notification.ts";
import { listIndexedBuckets } from "./bucket-index.ts";
import { createProgress, progressName } from "./delivery-status.ts";
import type { Lease } from "./lease.ts";

export interface RetentionOptions {
  readonly engine: Pick<Engine, "bucket" | "waitingEvents" | "ackEvents" | "eventUsage" | "dropOldestEvents">;
  readonly documents: Documents;
  /** Of several processes, one drops events. */
  readonly lease: Lease;
  readonly now: () => number;
  readonly log: (line: string) => void;
  readonly limits?: WaitingLimits | undefined;
  readonly onDropped?: ((reason: "age" | "limit", events: number) => void) | undefined;
}

/** Limits of the waiting events of a bucket. */
export interface WaitingLimits {
  readonly events: number;
  readonly bytes: number;
}

export const waitingLimits: WaitingLimits = { events: 500_000, bytes: 128 * 2 ** 20 };

/** What is read and dropped at once. */
const batch = { events: 1000, bytes: 2 ** 20 };

/** Returns a function that checks all buckets once. Its failures are logged and not thrown. */
export function createRetention(options: RetentionOptions): (signal: AbortSignal) => Promise<void> {
  const { engine, documents, lease, now, log, limits = waitingLimits, onDropped } = options;
  /** Buckets at a limit. The log has one line for each until it is half empty again. */
  const full = new Set<string>();

  async function dropOld(bucket: string, { id, keep }: NotificationRule): Promise<void> {
    if (keep === undefined) return;
    let dropped = 0;
    for (;;) {
      const waiting = await engine.waitingEvents(bucket, id, batch);
      const old = waiting.filter(({ event }) => event !== undefined && now() - event.time > keep);
      if (old.length === 0) break;
      const entries = old.map(({ entry }) => entry);
      await engine.ackEvents(bucket, id, entries);
      dropped += old.length;
    }
    if (dropped === 0) return;
    log(
      `Dropped ${dropped} events that waited longer than their rule keeps them (bucket "${bucket}", rule "${id}").`,
    );
    onDropped?.("age", dropped);
    const progress = createProgress(documents, progressName(bucket, id), now);
    progress.dropped(dropped);
    await progress.close();
  }

  async function dropExcess(bucket: string): Promise<void> {
    let dropped = 0;
    for (;;) {
      const { events, bytes } = await engine.eventUsage(bucket);
      const used = Math.max(events / limits.events, bytes / limits.bytes);
      if (used < 0.5) full.delete(bucket);
      if (used <= 1) break;
      const excess = Math.min(Math.ceil(events * (1 - 1 / used)), 10 * batch.events);
      dropped += await engine.dropOldestEvents(bucket, excess);
    }
    if (dropped === 0) return;
    onDropped?.("limit", dropped);
    if (full.has(bucket)) return;
    full.add(bucket);
    log(
      `Dropped the oldest ${dropped} events of bucket "${bucket}": more than ${limits.events} events or ` +
        `${Math.ceil(limits.bytes / 2 ** 20)} MiB waited. Find the receiver that does not accept them: ` +
        `store bucket notify list ${bucket}`,
    );
  }

  return async (signal) => {
    if (!(await lease.acquire())) return;
    for (const name of await listIndexedBuckets(documents)) {
      if (signal.aborted) return;
      try {
        for (const rule of (await engine.bucket(name))?.settings.notifications ?? [])
          await dropOld(name, rule);
        await dropExcess(name);
      } catch (error) {
        // The bucket was deleted, or the store is unavailable: the next check repeats it.
        if ((await engine.bucket(name).catch(() => undefined)) !== undefined)
          log(`Waiting events of bucket "${name}" could not be checked; will retry: ${errorMessage(error)}`);
      }
    }
  };
}
