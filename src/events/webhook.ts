// Sends events to a webhook as a signed POST request, which must get a 2xx status.
import { createHmac } from "node:crypto";
import { errorMessage } from "../model/errors.ts";
import { type Delivery, formatMessage, formatTestMessage, type Sender } from "./message.ts";
import type { Target } from "./target.ts";
import type { WebhookClient } from "./webhook-client.ts";

export interface Webhook extends Target {
  /** Sends the test message of S3. If it fails, throws an error with a message for the user. */
  test(): Promise<void>;
}

export interface WebhookOptions {
  readonly url: string;
  readonly secret: string;
  readonly sender: Sender;
  readonly client: WebhookClient;
  readonly now: () => number;
}

export function createWebhook({ url, secret, sender, client, now }: WebhookOptions): Webhook {
  const { origin } = new URL(url);
  const pending = new Set<() => void>();

  async function post(message: string): Promise<void> {
    const body = Buffer.from(message);
    const headers = [
      ...["content-type", "application/json"],
      ...["content-length", String(body.length)],
      ...["user-agent", "Store"],
      ...["store-signature", formatSignature(secret, Math.floor(now() / 1000), body)],
    ];
    let abort = () => {};
    const onAbort = (given: () => void) => {
      abort = given;
      pending.add(given);
    };
    try {
      await client.post(url, { headers, body, onAbort });
    } finally {
      pending.delete(abort);
    }
  }

  return {
    displayName: origin,
    async deliver(deliveries: readonly Delivery[]) {
      try {
        await post(formatMessage(sender, deliveries));
        return { received: deliveries.map(({ entry }) => entry) };
      } catch (error) {
        return { received: [], failure: errorMessage(error) };
      }
    },
    test: () => post(formatTestMessage(sender, now())),
    close() {
      for (const abort of pending) abort();
    },
  };
}

/** Signs the time and the body, so that a receiver can refuse a replayed message. */
export function formatSignature(secret: string, seconds: number, body: Uint8Array): string {
  const digest = createHmac("sha256", secret).update(`${seconds}.`).update(body).digest("hex");
  return `t=${seconds},v1=${digest}`;
}
