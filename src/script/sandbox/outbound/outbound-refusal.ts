// Responses of the proxy itself. A response is the only way to give a script a reason: if the
// connection were closed, the runtime would report no more than a lost connection.
import type { HttpResponse } from "../../../http/server/listen.ts";

export interface ProxyFault {
  readonly status: number;
  /** Name of the fault in RFC 9209. */
  readonly fault: string;
  /** For the script, in plain English. */
  readonly message: string;
}

export interface TextResponse extends HttpResponse {
  readonly body: string;
}

export function faultResponse({ status, fault, message }: ProxyFault): TextResponse {
  return {
    status,
    headers: [
      ["content-type", "text/plain; charset=utf-8"],
      ["proxy-status", `store; error=${fault}`],
    ],
    body: `${message}\n`,
  };
}

/** Maximum number of hosts whose refusal is logged, so that a script cannot flood the log. */
const maxLogged = 100;

export type LogOnce = (host: string, advice: string) => void;

/** Logs the first refusal of each host. */
export function createRefusalLog(log: (line: string) => void): LogOnce {
  const logged = new Set<string>();
  return (host, advice) => {
    if (logged.has(host) || logged.size >= maxLogged) return;
    logged.add(host);
    log(`fetch of "${host}" was refused: ${advice}.`);
    if (logged.size === maxLogged) log("fetches of further hosts that are refused are not logged.");
  };
}
