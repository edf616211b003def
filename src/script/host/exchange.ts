// Reports a request to a script after its response has ended. Runs for every request, so objects
// are built without spreading, which would be much slower.
import { performance } from "node:perf_hooks";
import type { HttpRequest, HttpResponse } from "../../http/server/listen.ts";
import { nextRequestId } from "../../http/server/request-id.ts";
import type { Exchange } from "../../metrics/exchange.ts";

/** Callbacks that observe what a script does. */
export interface HostObserver {
  /** The script's name. */
  readonly script: string;
  readonly onExchange: ((exchange: Exchange) => void) | undefined;
  /** Whether responses contain the request id of the log. */
  readonly sendsRequestId: boolean;
  /** Called after a handler other than fetch has run. */
  readonly onRun: (handler: string, outcome: "done" | "failed") => void;
}

export interface ExchangeState {
  /** Undefined when responses do not contain a request id. */
  readonly id: string | undefined;
  status: number;
  /** Set when the server creates the response instead of the script. */
  errorCode: "BadHost" | "Exception" | undefined;
  readonly onSent: NonNullable<HttpResponse["onSent"]>;
}

export function beginExchange(
  request: Pick<HttpRequest, "method" | "address" | "bytesRead">,
  observer: HostObserver | undefined,
): ExchangeState | undefined {
  const onExchange = observer?.onExchange;
  if (onExchange === undefined) return undefined;
  const startedAt = performance.now();
  const state: ExchangeState = {
    id: observer!.sendsRequestId ? nextRequestId() : undefined,
    status: 0,
    errorCode: undefined,
    onSent(bytesOut, isWhole) {
      onExchange({
        frontEnd: "script",
        id: state.id ?? "",
        method: request.method,
        operation: observer!.script,
        status: state.status,
        bytesIn: request.bytesRead(),
        bytesOut,
        milliseconds: performance.now() - startedAt,
        remoteAddress: request.address,
        errorCode: state.errorCode,
        isWhole,
      });
    },
  };
  return state;
}

/** Adds the request id to the headers, unless the script set its own. */
export function addRequestId(headers: [string, string][], id: string | undefined): void {
  if (id === undefined || headers.some(([name]) => name.toLowerCase() === "x-request-id")) return;
  headers.push(["x-request-id", id]);
}
