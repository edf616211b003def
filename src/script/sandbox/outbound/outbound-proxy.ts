// The proxy through which a sandboxed script fetches. The script's runtime has no network; it sends
// each request in proxy form (GET https://host/path) to a Unix socket, also after a redirect.

import { parseTargetUrl, type TargetUrl } from "../../../http/outbound/target-url.ts";
import { describeFault } from "../../../http/pinned-error.ts";
import {
  createPinnedClient,
  type PinnedClientOptions,
  type PinnedRequest,
  type PinnedResponse,
} from "../../../http/pinned-request.ts";
import { defaultPortLimits } from "../../../http/server/limits.ts";
import {
  type HttpHandler,
  type HttpListener,
  type HttpResponse,
  listen,
} from "../../../http/server/listen.ts";
import type { UpgradeHandler } from "../../../http/upgrade.ts";
import { createDestinationFinder, type DestinationOptions } from "./destination.ts";
import { endToEndHeaders, requestHeaders, upgradeHeaders } from "./outbound-headers.ts";
import { createRefusalLog, faultResponse, type ProxyFault } from "./outbound-refusal.ts";

export interface OutboundProxyOptions extends DestinationOptions, PinnedClientOptions {
  /** Logs a line for the operator. */
  readonly log?: ((line: string) => void) | undefined;
  /** Maximum requests and WebSockets in flight; default: 128. */
  readonly maxInFlight?: number | undefined;
}

/** Handles requests in proxy form, and WebSocket upgrades. */
export interface OutboundProxy {
  readonly handle: HttpHandler;
  readonly upgrade: UpgradeHandler;
}

/** More than the requests in flight, so that a refused request can be answered. */
const limits = { ...defaultPortLimits, connections: 512, requests: 384 };

/** Listens on a Unix socket for the runtime of one script. Throws a RangeError like the proxy. */
export function listenOutbound(path: string, options: OutboundProxyOptions): Promise<HttpListener> {
  const { handle, upgrade } = createOutbound(options);
  return listen(handle, { path }, { peer: "runtime", upgrade, limits });
}

/** The proxy without WebSocket. Throws a RangeError if an entry of `outbound` is not a host. */
export function createOutboundProxy(options: OutboundProxyOptions): HttpHandler {
  return createOutbound(options).handle;
}

/** Throws a RangeError if an entry of `outbound` is not a host. */
export function createOutbound(options: OutboundProxyOptions): OutboundProxy {
  const { log = () => {}, maxInFlight = 128 } = options;
  const findDestination = createDestinationFinder(options);
  const client = createPinnedClient(options);
  const logRefusal = createRefusalLog(log);
  let inFlight = 0;

  /** Returns the other server's response, or the fault that kept it from arriving. */
  async function fetchFrom(url: TargetUrl, request: PinnedRequest): Promise<PinnedResponse | ProxyFault> {
    if (inFlight >= maxInFlight) return busy(url, maxInFlight);
    inFlight++;
    try {
      const found = await findDestination(url);
      if (!("addresses" in found)) {
        logRefusal(url.authority, found.advice);
        inFlight--;
        return { ...found, message: `fetch of "${url.authority}" ${found.message}` };
      }
      const { host, isAddress, port, scheme } = url;
      const tls = scheme === "https" ? { host, isAddress } : undefined;
      const response = await client.send({ addresses: found.addresses, port, tls }, request);
      response.onClose(() => {
        inFlight--;
      });
      return response;
    } catch (error) {
      inFlight--;
      const { fault, message } = describeFault(error);
      const status = fault.endsWith("_timeout") ? 504 : 502;
      return { status, fault, message: `fetch of "${url.authority}" failed: ${message}` };
    }
  }

  return {
    async handle(request) {
      const url = parseTargetUrl(request.target);
      if (url === undefined) return faultResponse(notFetchable);
      const answered = await fetchFrom(url, {
        ...{ method: request.method, path: url.path, headers: requestHeaders(request.rawHeaders, url) },
        body: request.hasBody ? () => request.body() : undefined,
        onDisconnect: (listener) => request.onDisconnect(listener),
      });
      return "fault" in answered ? faultResponse(answered) : toHttpResponse(answered, url, request.method);
    },
    async upgrade({ method, target, rawHeaders, onDisconnect }) {
      const url = parseTargetUrl(target);
      if (url === undefined) return faultResponse(notFetchable);
      const headers = upgradeHeaders(rawHeaders, url);
      if (headers === undefined || method !== "GET") return faultResponse(notWebSocket);
      const request = { method, path: url.path, headers, body: undefined, onDisconnect };
      const answered = await fetchFrom(url, request);
      if ("fault" in answered) return faultResponse(answered);
      const { status, socket, body } = answered;
      if (status === 101 && socket !== undefined) {
        return { status, headers: [...endToEndHeaders(answered.rawHeaders), ...switching], body: socket };
      }
      await body.cancel(undefined);
      const message = `fetch of "${url.authority}" failed: it answered a WebSocket with status ${status}`;
      return faultResponse({ status: isFinal(status) ? status : 502, fault: "http_upgrade_failed", message });
    },
  };
}

const switching = [
  ["Connection", "Upgrade"],
  ["Upgrade", "websocket"],
] as const;

const notFetchable: ProxyFault = {
  ...{ status: 400, fault: "http_request_error" },
  message: "fetch was refused: only URLs like https://host/path can be fetched, without a user name",
};

const notWebSocket: ProxyFault = {
  ...{ status: 501, fault: "http_upgrade_failed" },
  message: "fetch was refused: websocket is the only protocol that a request can upgrade to",
};

function busy({ authority }: TargetUrl, maxInFlight: number): ProxyFault {
  const message = `fetch of "${authority}" was refused: ${maxInFlight} requests are in flight already`;
  return { status: 503, fault: "connection_limit_reached", message };
}

function isFinal(status: number): boolean {
  return status >= 200 && status <= 599;
}

function toHttpResponse(response: PinnedResponse, url: TargetUrl, method: string): HttpResponse {
  const { status, statusText, rawHeaders, body } = response;
  if (!isFinal(status)) {
    void body.cancel(undefined);
    const message = `fetch of "${url.authority}" failed: it answered with the invalid status ${status}`;
    return faultResponse({ status: 502, fault: "http_protocol_error", message });
  }
  const headers = endToEndHeaders(rawHeaders);
  const isEmpty = method === "HEAD" || status === 204 || status === 304;
  if (!isEmpty) return { status, statusText, headers, body };
  // Reads the end of the message, so that the connection can be reused.
  void drain(body.chunks());
  return { status, statusText, headers, body: null };
}

async function drain(chunks: AsyncIterable<Uint8Array>): Promise<void> {
  try {
    for await (const _ of chunks);
  } catch {
    // The head, which is all of the response, has arrived.
  }
}
