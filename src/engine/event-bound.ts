// Bounds the waiting events of a bucket while they are written. The deliverer drops the oldest and
// logs it, but checks every few seconds only: a fast writer could fill the disk between two checks.
import type { Change, Mutation, Records } from "./records.ts";

interface EventAmount {
  readonly events: number;
  readonly bytes: number;
}

/** Twice what the deliverer leaves, so that it still notices and logs what is dropped here. */
export const eventBound: EventAmount = { events: 1_000_000, bytes: 256 * 2 ** 20 };
/** Each process checks after it has written so much. It may write as much while it checks. */
export const eventStep: EventAmount = { events: 65_536, bytes: 16 * 2 ** 20 };
const droppedAtOnce = 10_000;
/** Buckets whose events are counted. Beyond, all counts begin again. */
const maxCounted = 10_000;

export interface EventBoundOptions {
  readonly bound?: EventAmount | undefined;
  readonly step?: EventAmount | undefined;
}

/** Returns records that drop the oldest events of a bucket beyond the bound. */
export function boundEvents(
  records: Records,
  { bound = eventBound, step = eventStep }: EventBoundOptions = {},
): Records {
  /** What this process has written since its last check. */
  const written = new Map<string, EventAmount>();
  const checks = new Map<string, Promise<void>>();

  async function dropExcess(bucket: string): Promise<void> {
    for (;;) {
      const { events, bytes } = await records.eventUsage(bucket);
      const used = Math.max(events / bound.events, bytes / bound.bytes);
      if (used <= 1) return;
      const excess = Math.ceil(events * (1 - 1 / used));
      if ((await records.dropOldestEvents(bucket, Math.min(excess, droppedAtOnce))) === 0) return;
    }
  }

  function count(bucket: string, added: EventAmount): void {
    if (written.size >= maxCounted) written.clear();
    const { events, bytes } = written.get(bucket) ?? none;
    const total = { events: events + added.events, bytes: bytes + added.bytes };
    written.set(bucket, total);
    if (total.events < step.events && total.bytes < step.bytes) return;
    if (checks.has(bucket)) return;
    written.delete(bucket);
    // After a failure, as when the bucket was deleted, the next step checks again.
    const check = dropExcess(bucket).catch(() => {});
    checks.set(
      bucket,
      check.finally(() => checks.delete(bucket)),
    );
  }

  async function commitEvents(bucket: string, change: Change, added: EventAmount) {
    // Writers wait for a check, so that none is faster than it.
    await checks.get(bucket);
    const outcome = await records.commit(bucket, change);
    if (outcome === "committed") count(bucket, added);
    return outcome;
  }

  return {
    ...records,
    commit(bucket, change) {
      const added = addedEvents(change.mutations);
      return added.events === 0 ? records.commit(bucket, change) : commitEvents(bucket, change, added);
    },
  };
}

const none: EventAmount = { events: 0, bytes: 0 };

/** Counts characters for bytes: keys of several bytes a character are rare, and the bound is not exact. */
function addedEvents(mutations: readonly Mutation[]): EventAmount {
  let [events, bytes] = [0, 0];
  for (const mutation of mutations) {
    if (mutation.kind !== "append event") continue;
    events++;
    bytes += mutation.event.length + mutation.rules.reduce((sum, rule) => sum + rule.length + 1, 0);
  }
  return events === 0 ? none : { events, bytes };
}
