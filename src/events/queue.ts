// Delivers the events of one rule in order, one message at a time, with retries until they arrive.
// Each rule has its own queue, so a slow target does not delay other targets.
import { setTimeout as pause } from "node:timers/promises";
import type { Engine } from "../engine/engine.ts";
import type { NotificationRule } from "../model/settings/notification.ts";
import type { ProgressKeeper } from "./delivery-status.ts";
import type { Lease } from "./lease.ts";
import type { Delivery } from "./message.ts";
import type { Target } from "./target.ts";

export interface QueueTimes {
  /** Interval between checks for new events. */
  readonly poll: number;
  /** Delay after the first failure; doubles with each further failure. */
  readonly firstPause: number;
  readonly maxPause: number;
}

export interface QueueOptions {
  readonly bucket: string;
  readonly rule: NotificationRule;
  readonly engine: Pick<Engine, "waitingEvents" | "ackEvents">;
  readonly target: Target;
  readonly lease: Lease;
  readonly progress: ProgressKeeper;
  readonly times: QueueTimes;
  readonly now: () => number;
  readonly log: (line: string) => void;
  readonly signal: AbortSignal;
}

/** Maximum number of events in one message. */
const maxEvents = 100;
/** Limits what a queue reads and holds at once; of usual events, a whole message has less. */
const maxBytes = 64 * 1024;

/** Runs until `signal` is aborted. Rejects if events cannot be read or acknowledged. */
export async function runQueue(options: QueueOptions): Promise<void> {
  const { bucket, rule, engine, target, lease, progress, times, log, signal } = options;
  const name = `bucket "${bucket}", rule "${rule.id}", to ${target.displayName}`;
  let batchSize = maxEvents;
  let failures = 0;

  /** Removes events that cannot be decoded. */
  async function dropDamaged(entries: readonly number[]): Promise<void> {
    if (entries.length === 0) return;
    log(`Dropped ${entries.length} damaged events (${name}). Check the store with: store verify`);
    await engine.ackEvents(bucket, rule.id, entries);
    progress.dropped(entries.length);
  }

  async function deliver(deliveries: readonly Delivery[]): Promise<void> {
    const { received, failure } = await target.deliver(deliveries);
    if (received.length > 0) {
      await engine.ackEvents(bucket, rule.id, received);
      progress.delivered(received.length);
    }
    if (failure === undefined) {
      if (failures > 0) log(`Delivery of events works again (${name}).`);
      failures = 0;
      batchSize = Math.min(maxEvents, batchSize * 2);
      return;
    }
    // The deliverer is closing: the next process that delivers sends these events again.
    if (signal.aborted) return;
    // Log the first failure only, not every retry.
    if (failures++ === 0) log(`Delivery of events failed and will be retried (${name}): ${failure}.`);
    progress.failed(failure);
    // Reduce the batch, down to one event: the events before a rejected event are then delivered.
    batchSize = Math.max(1, batchSize >> 1);
    const maxDelay = Math.min(times.firstPause * 2 ** Math.min(failures - 1, 30), times.maxPause);
    // Jitter: queues that failed at the same time must not retry at the same time.
    await sleep(maxDelay * (0.5 + Math.random() / 2), signal);
  }

  while (!signal.aborted) {
    const waiting = await engine.waitingEvents(bucket, rule.id, { events: batchSize, bytes: maxBytes });
    if (waiting.length === 0 || !(await lease.acquire())) {
      await sleep(times.poll, signal);
      continue;
    }
    await dropDamaged(waiting.flatMap(({ entry, event }) => (event === undefined ? [entry] : [])));
    const deliveries = waiting.flatMap(({ entry, event }) => (event === undefined ? [] : [{ entry, event }]));
    if (deliveries.length > 0) await deliver(deliveries);
  }
}

/** Resolves early if `signal` is aborted. */
export async function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  await pause(milliseconds, undefined, { signal }).catch(() => {});
}
