// Delivers the events of one rule, in order, one message at a time: struck out once they have arrived, tried again as
// long as they have not. A queue of its own for each rule, so that a target that is slow or dead holds up no other.
import { setTimeout as pause } from "node:timers/promises";
import type { Engine } from "../engine/engine.ts";
import type { NotificationRule } from "../model/notification.ts";
import type { ProgressKeeper } from "./delivery-status.ts";
import type { Lease } from "./lease.ts";
import type { Delivery } from "./message.ts";
import type { Target } from "./target.ts";

export interface QueueTimes {
  /** How often it is looked whether there is something to deliver. */
  readonly poll: number;
  /** Behind a first failure; twice as long behind each that follows. */
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

/** Of one message. */
const maxEvents = 100;

/** Ends when the signal says so; rejects with what keeps the events from being read. */
export async function runQueue(options: QueueOptions): Promise<void> {
  const { bucket, rule, engine, target, lease, progress, times, log, signal } = options;
  const name = `bucket "${bucket}", rule "${rule.id}", to ${target.displayName}`;
  let batchSize = maxEvents;
  let failures = 0;

  /** What nobody can read any more goes, and is told. */
  async function dropDamaged(entries: readonly number[]): Promise<void> {
    if (entries.length === 0) return;
    log(
      `Events that were damaged could not be delivered (${name}): ${entries.length}. See more: store verify`,
    );
    await engine.ackEvents(bucket, entries);
    progress.dropped(entries.length);
  }

  async function dropOld(deliveries: readonly Delivery[]): Promise<void> {
    const { keep } = rule;
    if (keep === undefined) return;
    const old = deliveries.filter(({ event }) => options.now() - event.time > keep);
    if (old.length === 0) return;
    log(`Events could not be delivered as long as they are kept, and are dropped (${name}): ${old.length}.`);
    await engine.ackEvents(
      bucket,
      old.map(({ entry }) => entry),
    );
    progress.dropped(old.length);
  }

  async function deliver(deliveries: readonly Delivery[]): Promise<void> {
    const { received, failure } = await target.deliver(deliveries);
    if (received.length > 0) {
      await engine.ackEvents(bucket, received);
      progress.delivered(received.length);
    }
    if (failure === undefined) {
      if (failures > 0) log(`Events are delivered again (${name}).`);
      failures = 0;
      batchSize = Math.min(maxEvents, batchSize * 2);
      return;
    }
    // What could not end before we do is sent again by whoever comes next.
    if (signal.aborted) return;
    // Once, and not again with each attempt.
    if (failures++ === 0)
      log(`Events were not delivered, and are tried again until they are (${name}): ${failure}.`);
    progress.failed(failure);
    // Fewer at a time, down to one: what the target cannot take is found, and what comes before it gets through.
    batchSize = Math.max(1, batchSize >> 1);
    const arrived = new Set(received);
    await dropOld(deliveries.filter(({ entry }) => !arrived.has(entry)));
    const maxDelay = Math.min(times.firstPause * 2 ** Math.min(failures - 1, 30), times.maxPause);
    // Not all at the same moment, who were refused at the same moment.
    await sleep(maxDelay * (0.5 + Math.random() / 2), signal);
  }

  while (!signal.aborted) {
    const waiting = await engine.waitingEvents(bucket, rule.id, batchSize);
    if (waiting.length === 0 || !(await lease.acquire())) {
      await sleep(times.poll, signal);
      continue;
    }
    await dropDamaged(waiting.flatMap(({ entry, event }) => (event === undefined ? [entry] : [])));
    const deliveries = waiting.flatMap(({ entry, event }) => (event === undefined ? [] : [{ entry, event }]));
    if (deliveries.length > 0) await deliver(deliveries);
  }
}

/** Or shorter, when it is to end. */
export async function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  await pause(milliseconds, undefined, { signal }).catch(() => {});
}
