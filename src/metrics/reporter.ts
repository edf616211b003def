// What a process that serves counts and logs of its exchanges, for a supervisor that asks for the figures and writes the
// lines. It is told of each exchange when that is over; nothing of it keeps a request waiting.
import { createExchangeCounter, type Exchange } from "./exchange.ts";
import { createLineQueue } from "./line-queue.ts";
import { createMetrics, type Metrics } from "./metrics.ts";
import type { FromObserver, ToObserver } from "./reporter-messages.ts";
import { requestLine } from "./request-line.ts";

/** What the operator wants of it. */
export interface ObserverOptions {
  readonly counts: boolean;
  readonly logs: boolean;
}

export const droppedLines = {
  name: "store_request_log_dropped_total",
  help: "Lines of the request log that found no room or could not be written.",
};

export interface Observer {
  /** For whatever else the process counts. */
  readonly metrics: Metrics;
  /** Undefined when nobody wants to know. */
  readonly onExchange: ((exchange: Exchange) => void) | undefined;
  receive(message: ToObserver): void;
  /** The process ends: what it has is sent, not awaited. */
  end(): void;
}

export function createObserver(
  { counts, logs }: ObserverOptions,
  send: (message: FromObserver) => void,
): Observer {
  const metrics = createMetrics();
  const count = counts ? createExchangeCounter(metrics) : undefined;
  const lines = createLineQueue({ send: (text) => send({ kind: "request lines", text }) });
  if (logs) {
    metrics.addReading(droppedLines, "counter", () => [[[], lines.dropped]]);
  }
  const log = logs ? (exchange: Exchange) => lines.push(requestLine(exchange, Date.now())) : undefined;
  const sendMetrics = () => send({ kind: "metrics", snapshot: metrics.snapshot() });
  return {
    metrics,
    onExchange: both(count, log),
    receive({ kind }) {
      if (kind === "lines taken") lines.ack();
      else sendMetrics();
    },
    end() {
      // Whatever is under way is not waited for any more.
      lines.ack();
      sendMetrics();
    },
  };
}

function both<T>(
  one: ((value: T) => void) | undefined,
  other: ((value: T) => void) | undefined,
): ((value: T) => void) | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return (value) => {
    one(value);
    other(value);
  };
}
