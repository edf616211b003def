// Delivers events: webhooks from this process, scripts in their own processes.
import { type Deliverer, startDeliverer } from "../../events/delivery.ts";
import { type Delivery, formatSequencer } from "../../events/message.ts";
import type { ScriptTargets } from "../../events/target.ts";
import { createWebhookClient, type WebhookClient } from "../../events/webhook-client.ts";
import { isLoopback } from "../../http/loopback.ts";
import type { Metrics } from "../../metrics/metrics.ts";
import { errorMessage } from "../../model/errors.ts";
import type { Mode } from "../../script/context.ts";
import type { NotificationMessage } from "../../script/host/messages.ts";
import type { ScriptServer } from "../../script/supervisor/supervisor.ts";
import type { Invocation, Option } from "../framework/command.ts";
import { usageError } from "../framework/command-error.ts";
import type { Data } from "../store/open-store.ts";

export const webhookOptions: Readonly<Record<string, Option>> = {
  "webhook-allow": {
    value: "HOST",
    summary: "let webhooks reach this private host, address or CIDR range; default: public addresses only",
    repeatable: true,
  },
};

/** A developer's webhooks run on the same machine, if nobody else can reach the server. */
const developerHosts = ["localhost", "127.0.0.0/8", "::1"];

export function webhookClient({ options }: Invocation, mode: Mode): WebhookClient {
  const given = options.texts("webhook-allow").flatMap((text) => text.split(",").map((part) => part.trim()));
  const isOwnMachine = mode === "dev" && isLoopback(options.text("host") ?? "127.0.0.1");
  try {
    return createWebhookClient({ allow: isOwnMachine ? [...given, ...developerHosts] : given });
  } catch (error) {
    throw error instanceof RangeError ? usageError(`--webhook-allow: ${error.message}`) : error;
  }
}

export interface EventOptions {
  readonly metrics: Metrics;
  readonly data: Data;
  readonly webhooks: WebhookClient;
  readonly server: ScriptServer | undefined;
  readonly log: (line: string) => void;
}

export function deliverEvents({ data, webhooks, server, log, metrics }: EventOptions): Deliverer {
  const { engine, documents, secretKey } = data;
  const scripts = server && scriptTargets(server);
  const dropped = metrics.counter({
    name: "store_events_dropped_total",
    help: "Waiting events that were dropped, because of their age or a limit of their bucket.",
    labels: ["reason"],
  });
  const reasons = { age: dropped("age"), limit: dropped("limit") };
  const onDropped = (reason: keyof typeof reasons, events: number) => reasons[reason].add(events);
  return startDeliverer({ engine, documents, secretKey, webhooks, log, scripts, onDropped });
}

function scriptTargets({ scripts }: ScriptServer): ScriptTargets {
  const find = (name: string) => scripts.find(({ config }) => config.name === name);
  return {
    has: (name) => find(name) !== undefined,
    async deliver(name, bucket, deliveries) {
      try {
        const events = deliveries.map((delivery) => toNotificationMessage(bucket, delivery));
        const { handled, error } = await find(name)!.notify(events);
        return { received: handled.map((index) => deliveries[index]!.entry), failure: error };
      } catch (error) {
        return { received: [], failure: errorMessage(error) };
      }
    },
  };
}

function toNotificationMessage(bucket: string, delivery: Delivery): NotificationMessage {
  const { id, name, time, key, created } = delivery.event;
  return { id, name, bucket, key, time, sequencer: formatSequencer(delivery), ...created };
}
