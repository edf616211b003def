// Sends events to a webhook as a signed POST request, which must get a 2xx status. Redirects are
// not followed, because they could send events and signatures to any host.
import { createHmac } from "node:crypto";
import { createHttpClient } from "../s3-client/http-client.ts";
import { type Delivery, formatMessage, formatTestMessage, type Sender } from "./message.ts";
import type { Target } from "./target.ts";

export interface Webhook extends Target {
  /** Sends the test message of S3. If it fails, throws an error with a message for the user. */
  test(): Promise<void>;
}

export interface WebhookOptions {
  readonly url: string;
  readonly secret: string;
  readonly sender: Sender;
  readonly now: () => number;
}

const times = { connect: 10_000, answer: 30_000, idle: 30_000 };
const maxMilliseconds = 60_000;

export function createWebhook({ url, secret, sender, now }: WebhookOptions): Webhook {
  const { protocol, hostname, port, pathname, search, origin, host } = new URL(url);
  const tls = protocol === "https:";
  const service = { hostname: hostname.replace(/^\[|\]$/g, ""), port: Number(port) || (tls ? 443 : 80), tls };
  const outgoing = createHttpClient(service, times);

  async function post(message: string): Promise<void> {
    const body = Buffer.from(message);
    const headers = {
      host,
      "content-type": "application/json",
      "content-length": String(body.length),
      "user-agent": "Store",
      "store-signature": formatSignature(secret, Math.floor(now() / 1000), body),
    };
    const request = { method: "POST", target: pathname + search, headers, parts: [body] };
    const answer = await outgoing.send(request, performance.now() + maxMilliseconds);
    const status = answer.statusCode!;
    // The body is not used. A short body is read to its end, so that the connection can be reused.
    if (Number(answer.headers["content-length"] ?? Number.POSITIVE_INFINITY) <= 16_384) answer.resume();
    else answer.destroy();
    if (status >= 200 && status < 300) return;
    const advice = status >= 300 && status < 400 ? "; redirects are not followed" : "";
    throw new Error(`the webhook responded with status ${status}${advice}`);
  }

  return {
    displayName: origin,
    async deliver(deliveries: readonly Delivery[]) {
      try {
        await post(formatMessage(sender, deliveries));
        return { received: deliveries.map(({ entry }) => entry) };
      } catch (error) {
        return { received: [], failure: describeError(error) };
      }
    },
    async test() {
      try {
        await post(formatTestMessage(sender, now()));
      } catch (error) {
        throw new Error(describeError(error), { cause: error });
      }
    },
    close: () => outgoing.close(),
  };
}

/** Signs the time and the body, so that a receiver can refuse a replayed message. */
export function formatSignature(secret: string, seconds: number, body: Uint8Array): string {
  const digest = createHmac("sha256", secret).update(`${seconds}.`).update(body).digest("hex");
  return `t=${seconds},v1=${digest}`;
}

function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = "code" in error ? String(error.code) : "";
  if (code === "ECONNREFUSED") return "connection refused";
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") return "host name not found";
  return error.message === "" ? code : error.message;
}
