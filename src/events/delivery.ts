// Delivers what the rules of all buckets want to know: looks which rules there are, and keeps a queue for each.
import type { Engine } from "../engine/engine.ts";
import type { Documents } from "../engine/records.ts";
import type { NotificationRule } from "../model/notification.ts";
import { notedBuckets } from "./bucket-index.ts";
import { createProgress, progressName } from "./delivery-status.ts";
import { createLease, type Lease } from "./lease.ts";
import { type QueueTimes, rest, runQueue } from "./queue.ts";
import { openSecret } from "./rules.ts";
import type { ScriptTargets, Target } from "./target.ts";
import { createWebhook } from "./webhook.ts";

export interface DelivererOptions {
  readonly engine: Pick<Engine, "bucket" | "waitingEvents" | "strikeEvents">;
  readonly documents: Documents;
  readonly secretKey: () => Uint8Array;
  /** None where no scripts run: their events wait for a process that runs them. */
  readonly scripts?: ScriptTargets | undefined;
  readonly log: (line: string) => void;
  readonly now?: () => number;
  readonly times?: Partial<DelivererTimes>;
}

export interface DelivererTimes extends QueueTimes {
  /** How often it is looked which rules there are. */
  readonly rules: number;
  /** Behind what should not have gone wrong. */
  readonly again: number;
  /** How long what is under way may take when it is to end. */
  readonly grace: number;
}

const usualTimes: DelivererTimes = {
  poll: 250,
  firstPause: 500,
  longestPause: 5 * 60_000,
  rules: 1000,
  again: 5000,
  grace: 3000,
};

export interface Deliverer {
  /** Lets what is under way come to its end. */
  close(): Promise<void>;
}

interface Running {
  readonly text: string;
  stop(): Promise<void>;
}

export function startDeliverer(options: DelivererOptions): Deliverer {
  const { engine, documents, log, scripts, now = Date.now } = options;
  const times = { ...usualTimes, ...options.times };
  const queues = new Map<string, Running>();
  const leases = new Map<string, Lease>();
  const ending = new AbortController();

  /** All webhooks go by one, and each script by its own: not every process runs it. */
  function leaseOf({ target }: NotificationRule): Lease {
    const name = target.kind === "webhook" ? "webhooks" : `script ${target.name}`;
    const lease = leases.get(name) ?? createLease(documents, name);
    leases.set(name, lease);
    return lease;
  }

  function targetOf(bucket: string, rule: NotificationRule): Target {
    const { target, id } = rule;
    if (target.kind === "webhook") {
      const secret = openSecret(options.secretKey(), bucket, rule);
      return createWebhook({ url: target.url, secret, sender: { bucket, rule: id }, now });
    }
    return {
      shown: `script "${target.name}"`,
      deliver: (deliveries) => scripts!.deliver(target.name, bucket, deliveries),
      close() {},
    };
  }

  function start(bucket: string, rule: NotificationRule): Running {
    const stopping = new AbortController();
    const { signal } = stopping;
    const progress = createProgress(documents, progressName(bucket, rule.id), now);
    async function run(): Promise<void> {
      const target = targetOf(bucket, rule);
      const cut = () => setTimeout(() => target.close(), times.grace).unref();
      signal.addEventListener("abort", cut);
      try {
        const lease = leaseOf(rule);
        await runQueue({ bucket, rule, engine, target, lease, progress, times, now, log, signal });
      } finally {
        signal.removeEventListener("abort", cut);
        target.close();
        await progress.close();
      }
    }
    async function runOn(): Promise<void> {
      while (!signal.aborted) {
        try {
          await run();
        } catch (error) {
          // The bucket may be gone, or the store cannot be read: what is there stays, and is tried again.
          if (signal.aborted) return;
          log(`Events of bucket "${bucket}", rule "${rule.id}", wait: ${wordsOf(error)}`);
          progress.failed(wordsOf(error));
          await rest(times.again, signal);
        }
      }
    }
    const running = runOn();
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

  async function look(): Promise<void> {
    const wanted = new Map<string, readonly [bucket: string, rule: NotificationRule]>();
    for (const name of await notedBuckets(documents)) {
      const rules = (await engine.bucket(name))?.settings.notifications ?? [];
      for (const rule of rules.filter(canDeliver)) wanted.set(progressName(name, rule.id), [name, rule]);
    }
    for (const [id, queue] of queues) {
      const rule = wanted.get(id)?.[1];
      if (rule !== undefined && JSON.stringify(rule) === queue.text) continue;
      queues.delete(id);
      await queue.stop();
    }
    for (const [id, [bucket, rule]] of wanted) if (!queues.has(id)) queues.set(id, start(bucket, rule));
  }

  async function watch(): Promise<void> {
    let isFailing = false;
    while (!ending.signal.aborted) {
      try {
        await look();
        isFailing = false;
      } catch (error) {
        if (!isFailing && !ending.signal.aborted)
          log(`The rules of events could not be read: ${wordsOf(error)}`);
        isFailing = true;
      }
      await rest(times.rules, ending.signal);
    }
  }
  const watching = watch();

  return {
    async close() {
      ending.abort();
      await watching;
      await Promise.all(Array.from(queues.values(), (queue) => queue.stop()));
      await Promise.all(Array.from(leases.values(), (lease) => lease.release().catch(() => {})));
    },
  };
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
