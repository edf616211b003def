// What is told of a request to a script once its answer is over. It runs with every request, so it is written out field by
// field: spreading costs more than all the rest of it.
import type { HttpRequest, HttpResponse } from "../../http/server/listen.ts";
import { nextRequestId } from "../../http/server/request-id.ts";
import type { Exchange } from "../../metrics/exchange.ts";

/** Who wants to know what the script does. */
export interface HostObserver {
  /** The script's name. */
  readonly script: string;
  readonly onExchange: ((exchange: Exchange) => void) | undefined;
  /** Whether answers say by which id they are logged. */
  readonly sendsRequestId: boolean;
  /** A handler other than fetch has run. */
  readonly onRun: (handler: string, outcome: "done" | "failed") => void;
}

export interface ExchangeState {
  /** Undefined where answers do not say it. */
  readonly id: string | undefined;
  status: number;
  /** Of an answer that is not the script's own. */
  errorCode: "BadHost" | "Exception" | undefined;
  readonly onSent: NonNullable<HttpResponse["onSent"]>;
}

export function beginExchange(
  request: HttpRequest,
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

/** Adds the id to what is sent, unless the script says one of its own. */
export function addRequestId(headers: [string, string][], id: string | undefined): void {
  if (id === undefined || headers.some(([name]) => name.toLowerCase() === "x-request-id")) return;
  headers.push(["x-request-id", id]);
}
