// Forwards the request for a WebSocket to another process over a Unix socket.
import { type IncomingMessage, request as send } from "node:http";
import { clearTimeout, setTimeout } from "node:timers";
import { hopByHopHeaders } from "../headers.ts";
import { NotTakenError } from "../proxy.ts";
import { withSenderHeaders } from "../server/forwarded.ts";
import type { UpgradeRequest, UpgradeResponse } from "../upgrade.ts";

export interface UpgradeTarget {
  readonly socketPath: string;
  /** Maximum time until the process answers; default: one minute. */
  readonly handshakeMilliseconds?: number | undefined;
}

const hopByHop: ReadonlySet<string> = new Set(hopByHopHeaders);
const switching = [
  ["Connection", "Upgrade"],
  ["Upgrade", "websocket"],
] as const;
const defaultHandshakeMilliseconds = 60_000;

/** Whether the request asks for a WebSocket, and nothing else: it has no body. */
export function isWebSocketRequest({ method, header }: Pick<UpgradeRequest, "method" | "header">): boolean {
  const length = header("content-length");
  return (
    method === "GET" &&
    header("upgrade")?.trim().toLowerCase() === "websocket" &&
    (length === undefined || length === "0") &&
    header("transfer-encoding") === undefined
  );
}

/** Rejects if there is no answer, with NotTakenError if the process cannot have got the request. */
export function forwardUpgrade(request: UpgradeRequest, target: UpgradeTarget): Promise<UpgradeResponse> {
  const { socketPath, handshakeMilliseconds = defaultHandshakeMilliseconds } = target;
  return new Promise((resolve, reject) => {
    let isClientGone = false;
    const outgoing = send({
      ...{ agent: false, socketPath, method: request.method, path: request.target },
      headers: forwardedHeaders(request),
    });
    const timer = setTimeout(() => outgoing.destroy(new Error("no answer in time")), handshakeMilliseconds);
    outgoing.on("error", (error: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      const isUnreached = error.code === "ECONNREFUSED" || error.code === "ENOENT";
      reject(
        isUnreached && !isClientGone ? new NotTakenError("The process did not get the request.") : error,
      );
    });
    outgoing.once("upgrade", (incoming, socket, first) => {
      clearTimeout(timer);
      if (first.length > 0) socket.unshift(first);
      resolve({ status: 101, headers: [...endToEnd(incoming), ...switching], body: socket });
    });
    outgoing.once("response", (incoming) => {
      clearTimeout(timer);
      resolve({ status: incoming.statusCode ?? 502, headers: endToEnd(incoming), body: incoming });
    });
    request.onDisconnect(() => {
      isClientGone = true;
      outgoing.destroy();
    });
    outgoing.end();
  });
}

function forwardedHeaders(request: UpgradeRequest): string[] {
  const rawHeaders = withSenderHeaders(request);
  const headers: string[] = [];
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    if (!hopByHop.has(rawHeaders[i]!.toLowerCase())) headers.push(rawHeaders[i]!, rawHeaders[i + 1]!);
  }
  if (request.header("host") === undefined) headers.push("Host", "localhost");
  return [...headers, "Connection", "Upgrade", "Upgrade", "websocket"];
}

function endToEnd({ rawHeaders }: IncomingMessage): [string, string][] {
  const headers: [string, string][] = [];
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    if (!hopByHop.has(rawHeaders[i]!.toLowerCase())) headers.push([rawHeaders[i]!, rawHeaders[i + 1]!]);
  }
  return headers;
}
