// A webhook receiver for tests: records requests and responds with the statuses that a test sets.
import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import { until } from "../script/inside.ts";

export interface Received {
  readonly body: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly records: readonly EventRecord[];
}

export interface EventRecord {
  readonly eventVersion: string;
  readonly eventName: string;
  readonly eventTime: string;
  readonly eventId: string;
  readonly s3: {
    readonly configurationId: string;
    readonly bucket: { readonly name: string };
    readonly object: {
      readonly key: string;
      readonly size?: number;
      readonly eTag?: string;
      readonly versionId?: string;
      readonly sequencer: string;
    };
  };
}

export interface Receiver {
  readonly url: string;
  readonly received: readonly Received[];
  /** Events of the requests that got a status below 300. */
  readonly events: readonly EventRecord[];
  /** Returns the status of a response. A promise delays the response. */
  answer: (received: Received) => number | Promise<number>;
  /** Waits until `count` events were accepted. */
  took(count: number): Promise<readonly EventRecord[]>;
}

export async function openReceiver(t: Pick<TestContext, "after">): Promise<Receiver> {
  const received: Received[] = [];
  const events: EventRecord[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const { Records: records = [] } = JSON.parse(body) as { Records?: EventRecord[] };
    const one = { body, headers: request.headers, records };
    received.push(one);
    const status = await receiver.answer(one);
    if (status < 300) events.push(...records);
    response.writeHead(status, status === 302 ? { location: "/elsewhere" } : {}).end("ok");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?of=test`,
    received,
    events,
    answer: () => 200,
    async took(count) {
      await until(() => events.length >= count, `${count} events, there are ${events.length}`);
      return events;
    },
  };
  return receiver;
}

/** Whether the signature of a message is valid, checked as a receiver does. */
export function isSigned({ headers, body }: Received, secret: string): boolean {
  const match = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers["store-signature"]));
  if (match === null) return false;
  const [, time, signature] = match;
  return createHmac("sha256", secret).update(`${time}.${body}`).digest("hex") === signature;
}
