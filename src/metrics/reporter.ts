// Counts and logs the exchanges of a worker process. The supervisor requests the metrics and writes
// the log lines. Requests of clients never wait for metrics or logs.
import { createExchangeCounter, type Exchange } from "./exchange.ts";
import { createLineQueue } from "./line-queue.ts";
import { createMetrics, type Metrics } from "./metrics.ts";
import type { FromObserver, ToObserver } from "./reporter-messages.ts";
import { requestLine } from "./request-line.ts";

export interface ObserverOptions {
  readonly counts: boolean;
  readonly logs: boolean;
}

export const droppedLines = {
  name: "store_request_log_dropped_total",
  help: "Lines of the request log that were dropped because the queue was full or a write failed.",
};

export interface Observer {
  /** Registry for further metrics of the process. */
  readonly metrics: Metrics;
  /** Undefined when exchanges are neither counted nor logged. */
  readonly onExchange: ((exchange: Exchange) => void) | undefined;
  receive(message: ToObserver): void;
  /** Sends the last metrics and log lines before the process ends, without waiting. */
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
      // Send the queued lines without waiting for the batch in flight.
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
