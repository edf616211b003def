// Serves the requests of a sandboxed script in the supervisor: static files are answered here, all
// other requests go to a sandbox. Requests are counted and logged here, not by the sandbox.
import type { HttpHandler, HttpRequest, HttpResponse } from "../../http/server/listen.ts";
import type { Location } from "../../model/location.ts";
import type { ScriptConfig } from "../config/config.ts";
import type { Mode } from "../context.ts";
import { addRequestId, beginExchange, type HostObserver } from "../host/exchange.ts";
import { hasValidHost } from "../host/host-header.ts";
import { openSandboxAssets } from "../sandbox/assets-endpoint.ts";

export interface ScriptFront {
  readonly handle: HttpHandler;
  close(): void;
}

export interface ScriptFrontOptions {
  readonly mode: Mode;
  readonly location: Location;
  readonly observer: HostObserver;
  /** Forwards a request to a sandbox of the script. */
  readonly forward: HttpHandler;
}

export async function openScriptFront(
  config: ScriptConfig,
  { mode, location, observer, forward }: ScriptFrontOptions,
): Promise<ScriptFront> {
  const observed: HttpHandler = (request) => forwardObserved(request, forward, observer);
  if (config.assets === undefined) return { handle: observed, close() {} };
  const { compatibilityDate, compatibilityFlags } = config;
  const assets = await openSandboxAssets({
    ...{ assets: config.assets, mode, location, compatibilityDate, compatibilityFlags },
  });
  return { handle: assets.serveBefore(observed, observer), close: assets.close };
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

const badHost: HttpResponse = {
  status: 400,
  headers: [["content-type", "text/plain; charset=utf-8"]],
  body: "Bad Request: the request names no valid host.\n",
};
