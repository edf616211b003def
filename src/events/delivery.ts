// Delivers events: watches the notification rules of all buckets and runs a queue for each rule.
import type { Documents } from "../engine/records.ts";
import { errorMessage } from "../model/errors.ts";
import type { NotificationRule } from "../model/settings/notification.ts";
import { listIndexedBuckets } from "./bucket-index.ts";
import { createProgress, progressName } from "./delivery-status.ts";
import { createLease, type Lease } from "./lease.ts";
import { type QueueTimes, runQueue, sleep } from "./queue.ts";
import { createRetention, type RetentionOptions } from "./retention.ts";
import { openSecret } from "./rules.ts";
import type { ScriptTargets, Target } from "./target.ts";
import { createWebhook } from "./webhook.ts";
import type { WebhookClient } from "./webhook-client.ts";

export interface DelivererOptions extends Pick<RetentionOptions, "engine" | "limits" | "onDropped"> {
  readonly documents: Documents;
  readonly secretKey: () => Uint8Array;
  readonly webhooks: WebhookClient;
  /** Undefined if this process runs no scripts: events for scripts wait for another process. */
  readonly scripts?: ScriptTargets | undefined;
  readonly log: (line: string) => void;
  readonly now?: () => number;
  readonly times?: Partial<DelivererTimes>;
}

export interface DelivererTimes extends QueueTimes {
  /** Interval between reads of the rules. */
  readonly rules: number;
  /** Interval between checks for events that are dropped. */
  readonly retention: number;
  /** Delay after an unexpected error. */
  readonly retry: number;
  /** How long `close` waits for deliveries in flight. */
  readonly grace: number;
}

const defaultTimes: DelivererTimes = {
  poll: 250,
  firstPause: 500,
  maxPause: 5 * 60_000,
  rules: 1000,
  retention: 10_000,
  retry: 5000,
  grace: 3000,
};

export interface Deliverer {
  /** Waits for deliveries in flight, up to the grace period. */
  close(): Promise<void>;
}

interface RunningQueue {
  readonly text: string;
  stop(): Promise<void>;
}

export function startDeliverer(options: DelivererOptions): Deliverer {
  const { engine, documents, log, scripts, now = Date.now } = options;
  const times = { ...defaultTimes, ...options.times };
  const queues = new Map<string, RunningQueue>();
  const leases = new Map<string, Lease>();
  const closing = new AbortController();

  /** All webhooks share one lease. Each script has its own, because not every process runs it. */
  function getLease({ target }: NotificationRule): Lease {
    const name = target.kind === "webhook" ? "webhooks" : `script ${target.name}`;
    const lease = leases.get(name) ?? createLease(documents, name);
    leases.set(name, lease);
    return lease;
  }

  function createTarget(bucket: string, rule: NotificationRule): Target {
    const { target, id } = rule;
    if (target.kind === "webhook") {
      const secret = openSecret(options.secretKey(), bucket, rule);
      return createWebhook({
        ...{ url: target.url, secret, sender: { bucket, rule: id }, client: options.webhooks, now },
      });
    }
    return {
      displayName: `script "${target.name}"`,
      deliver: (deliveries) => scripts!.deliver(target.name, bucket, deliveries),
      close() {},
    };
  }

  function start(bucket: string, rule: NotificationRule): RunningQueue {
    const stopping = new AbortController();
    const { signal } = stopping;
    const progress = createProgress(documents, progressName(bucket, rule.id), now);
    async function run(): Promise<void> {
      const target = createTarget(bucket, rule);
      const closeLate = () => setTimeout(() => target.close(), times.grace).unref();
      signal.addEventListener("abort", closeLate);
      try {
        const lease = getLease(rule);
        await runQueue({ bucket, rule, engine, target, lease, progress, times, now, log, signal });
      } finally {
        signal.removeEventListener("abort", closeLate);
        target.close();
        await progress.close();
      }
    }
    async function runWithRetries(): Promise<void> {
      while (!signal.aborted) {
        try {
          await run();
        } catch (error) {
          // The bucket was deleted or the store is unavailable: events stay queued and are retried.
          if (signal.aborted) return;
          log(
            `Delivery of events stopped (bucket "${bucket}", rule "${rule.id}"); will retry: ${errorMessage(error)}`,
          );
          progress.failed(errorMessage(error));
          await sleep(times.retry, signal);
        }
      }
    }
    const running = runWithRetries();
    return {
      text: JSON.stringify(rule),
      stop() {
        stopping.abort();
        return running;
      },
    };
  }

  function canDeliver({ target }: NotificationRule): boolean {
    return target.kind === "webhook" || scripts?.has(target.name) === true;
  }

  async function refreshQueues(): Promise<void> {
    const expected = new Map<string, readonly [bucket: string, rule: NotificationRule]>();
    for (const name of await listIndexedBuckets(documents)) {
      const rules = (await engine.bucket(name))?.settings.notifications ?? [];
      for (const rule of rules.filter(canDeliver)) expected.set(progressName(name, rule.id), [name, rule]);
    }
    for (const [id, queue] of queues) {
      const rule = expected.get(id)?.[1];
      if (rule !== undefined && JSON.stringify(rule) === queue.text) continue;
      queues.delete(id);
      await queue.stop();
    }
    for (const [id, [bucket, rule]] of expected) if (!queues.has(id)) queues.set(id, start(bucket, rule));
  }

  async function watchRules(): Promise<void> {
    let isFailing = false;
    while (!closing.signal.aborted) {
      try {
        await refreshQueues();
        isFailing = false;
      } catch (error) {
        if (!isFailing && !closing.signal.aborted)
          log(`Notification rules could not be read; will retry: ${errorMessage(error)}`);
        isFailing = true;
      }
      await sleep(times.rules, closing.signal);
    }
  }
  const watching = watchRules();

  async function watchAge(): Promise<void> {
    const retentionLease = createLease(documents, "retention");
    leases.set("retention", retentionLease);
    const check = createRetention({ ...options, lease: retentionLease, now });
    while (!closing.signal.aborted) {
      // If the store is unavailable, the next check repeats this one.
      await check(closing.signal).catch(() => {});
      await sleep(times.retention, closing.signal);
    }
  }
  const watchingAge = watchAge();

  return {
    async close() {
      closing.abort();
      await Promise.all([watching, watchingAge]);
      await Promise.all(Array.from(queues.values(), (queue) => queue.stop()));
      await Promise.all(Array.from(leases.values(), (lease) => lease.release().catch(() => {})));
    },
  };
}
