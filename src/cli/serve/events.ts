// Delivers events: webhooks from this process, scripts in their own processes.
import { type Deliverer, startDeliverer } from "../../events/delivery.ts";
import { type Delivery, formatSequencer } from "../../events/message.ts";
import type { ScriptTargets } from "../../events/target.ts";
import { errorMessage } from "../../model/errors.ts";
import type { NotificationMessage } from "../../script/host/messages.ts";
import type { ScriptServer } from "../../script/supervisor/supervisor.ts";
import type { Data } from "../store/open-store.ts";

export interface EventOptions {
  readonly data: Data;
  readonly server: ScriptServer | undefined;
  readonly log: (line: string) => void;
}

export function deliverEvents({ data, server, log }: EventOptions): Deliverer {
  const { engine, documents, secretKey } = data;
  return startDeliverer({ engine, documents, secretKey, log, scripts: server && scriptTargets(server) });
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
