// A finished request with its response, for metrics and the request log. It contains no header,
// query or target, so that no signature, cookie or secret can reach the log.
import { createBucketCounter } from "./bucket-counts.ts";
import type { Counter, Histogram, Metrics } from "./metrics.ts";
import { secondsBounds } from "./metrics.ts";

export type FrontEnd = "s3" | "script" | "console" | "public" | "socket";

export interface Exchange {
  readonly frontEnd: FrontEnd;
  /** The request id, which the response also contains. */
  readonly id: string;
  readonly method: string;
  /** An operation, script or page. A limited set of names, because each is a metric label. */
  readonly operation: string;
  readonly bucket?: string | undefined;
  readonly key?: string | undefined;
  readonly status: number;
  /** Bytes of the body, without headers. */
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** Duration from the end of the request's head until the last byte was passed to the system. */
  readonly milliseconds: number;
  readonly accessKeyId?: string | undefined;
  /** A function, because only the request log needs the address. */
  readonly remoteAddress: () => string;
  /** Error code, from a limited set. */
  readonly errorCode?: string | undefined;
  /** Whether the response was sent completely. */
  readonly isWhole: boolean;
}

interface OperationCounts {
  /** Counters, indexed by the first digit of the status. */
  readonly requests: (Counter | undefined)[];
  readonly seconds: Histogram;
  readonly bytesIn: Counter;
  readonly bytesOut: Counter;
}

export function createExchangeCounter(metrics: Metrics): (exchange: Exchange) => void {
  const requests = metrics.counter({
    name: "store_requests_total",
    help: "Requests answered, by the first digit of their status.",
    labels: ["face", "operation", "status"],
  });
  const seconds = metrics.histogram(
    {
      name: "store_request_duration_seconds",
      help: "From the end of a request's head until the last byte of its response was passed to the system.",
      labels: ["face", "operation"],
    },
    secondsBounds,
  );
  const bytesIn = metrics.counter({
    name: "store_received_bytes_total",
    help: "Bytes of request bodies.",
    labels: ["face", "operation"],
  });
  const bytesOut = metrics.counter({
    name: "store_sent_bytes_total",
    help: "Bytes of response bodies.",
    labels: ["face", "operation"],
  });
  const errors = metrics.counter({
    name: "store_errors_total",
    help: "Requests answered with an error, by its code; Cut counts responses that were cut off.",
    labels: ["face", "code"],
  });
  const countBucket = createBucketCounter(metrics);
  const countsByFrontEnd = new Map<FrontEnd, Map<string, OperationCounts>>();

  function createCounts(frontEnd: FrontEnd, operation: string): OperationCounts {
    const counts: OperationCounts = {
      requests: [],
      seconds: seconds(frontEnd, operation),
      bytesIn: bytesIn(frontEnd, operation),
      bytesOut: bytesOut(frontEnd, operation),
    };
    countsByFrontEnd.set(frontEnd, (countsByFrontEnd.get(frontEnd) ?? new Map()).set(operation, counts));
    return counts;
  }

  return (exchange) => {
    const { frontEnd, operation, status } = exchange;
    const counts = countsByFrontEnd.get(frontEnd)?.get(operation) ?? createCounts(frontEnd, operation);
    const digit = Math.trunc(status / 100);
    counts.requests[digit] ??= requests(frontEnd, operation, `${digit}xx`);
    counts.requests[digit].add(1);
    counts.seconds.observe(exchange.milliseconds / 1000);
    if (exchange.bytesIn > 0) counts.bytesIn.add(exchange.bytesIn);
    if (exchange.bytesOut > 0) counts.bytesOut.add(exchange.bytesOut);
    countBucket(exchange);
    if (exchange.errorCode !== undefined) errors(frontEnd, exchange.errorCode).add(1);
    if (!exchange.isWhole) errors(frontEnd, "Cut").add(1);
  };
}
