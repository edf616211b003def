// Serves the requests of a sandboxed script in the supervisor: static files are answered here, all
// other requests go to a sandbox. Requests are counted and logged here, not by the sandbox.
import type { HttpHandler, HttpRequest, HttpResponse } from "../../http/server/listen.ts";
import { isWebSocketRequest } from "../../http/upgrade/forward.ts";
import type { UpgradeHandler, UpgradeRequest, UpgradeResponse } from "../../http/upgrade.ts";
import type { Location } from "../../model/names/location.ts";
import type { ScriptConfig } from "../config/config.ts";
import type { Mode } from "../context.ts";
import { addRequestId, beginExchange, type HostObserver } from "../host/exchange.ts";
import { hasValidHost } from "../host/host-header.ts";
import { openSandboxAssets } from "../sandbox/assets-endpoint.ts";
import type { ForwardUpgrade } from "./upgrade-forwarder.ts";

export interface ScriptFront {
  readonly handle: HttpHandler;
  readonly upgrade: UpgradeHandler;
  close(): void;
}

export interface ScriptFrontOptions {
  readonly mode: Mode;
  readonly location: Location;
  readonly observer: HostObserver;
  /** Forwards a request to a sandbox of the script. */
  readonly forward: HttpHandler;
  readonly forwardUpgrade: ForwardUpgrade;
}

export async function openScriptFront(
  config: ScriptConfig,
  { mode, location, observer, forward, forwardUpgrade }: ScriptFrontOptions,
): Promise<ScriptFront> {
  const observed: HttpHandler = (request) => forwardObserved(request, forward, observer);
  const upgrade: UpgradeHandler = async (request) =>
    // Files are not WebSockets, and other protocols are not supported: these are ordinary requests.
    config.main === undefined || !isWebSocketRequest(request)
      ? undefined
      : upgradeObserved(request, forwardUpgrade, observer);
  if (config.assets === undefined) return { handle: observed, upgrade, close() {} };
  const { compatibilityDate, compatibilityFlags } = config;
  const assets = await openSandboxAssets({
    ...{ assets: config.assets, mode, location, compatibilityDate, compatibilityFlags },
  });
  return { handle: assets.serveBefore(observed, observer), upgrade, close: assets.close };
}

async function forwardObserved(
  request: HttpRequest,
  forward: HttpHandler,
  observer: HostObserver,
): Promise<HttpResponse> {
  const exchange = beginExchange(request, observer);
  const response = hasValidHost(request) ? await forward(request) : badHost;
  if (exchange === undefined) return response;
  exchange.status = response.status;
  if (response === badHost) exchange.errorCode = "BadHost";
  const headers = Array.from(response.headers, ([name, value]): [string, string] => [name, value]);
  addRequestId(headers, exchange.id);
  return { ...response, headers, onSent: exchange.onSent };
}

/** Reports the handshake when it is over: the connection may last for days. */
async function upgradeObserved(
  request: UpgradeRequest,
  forward: ForwardUpgrade,
  observer: HostObserver,
): Promise<UpgradeResponse> {
  const { method, address } = request;
  const exchange = beginExchange({ method, address, bytesRead: () => 0 }, observer);
  const response = hasValidHost(request) ? await forward(request) : badHost;
  if (exchange === undefined) return response;
  exchange.status = response.status;
  if (response === badHost) exchange.errorCode = "BadHost";
  exchange.onSent(0, true);
  const headers = Array.from(response.headers, ([name, value]): [string, string] => [name, value]);
  addRequestId(headers, exchange.id);
  return { ...response, headers };
}

const badHost = {
  status: 400,
  headers: [["content-type", "text/plain; charset=utf-8"]] as const,
  body: "Bad Request: the request names no valid host.\n",
} satisfies HttpResponse & UpgradeResponse;
