// Assets of a sandboxed script. The sandbox never gets the folder: requests for assets are served
// outside it, and the script's own binding is an endpoint that the sandbox reaches over a socket.
import type { HttpHandler } from "../../http/server/listen.ts";
import type { Location } from "../../model/names/location.ts";
import { assetRequestFrom } from "../assets/asset-request.ts";
import { type AnswerOptions, openAssets } from "../assets/assets.ts";
import { emptyResponse } from "../assets/respond.ts";
import type { Compatibility } from "../assets/worker-first.ts";
import type { AssetsOptions } from "../bindings.ts";
import { siteBinding } from "../config/wrangler/site-names.ts";
import type { Mode } from "../context.ts";
import type { HostObserver } from "../host/exchange.ts";
import { hasValidHost } from "../host/host-header.ts";
import { withAssets } from "../host/with-assets.ts";
import { createSiteEndpoint } from "./site-endpoint.ts";

export interface SandboxAssetsOptions extends Compatibility {
  readonly assets: AssetsOptions;
  readonly mode: Mode;
  /** Location of the store, whose data is never served. */
  readonly location: Location;
}

export interface SandboxAssets {
  /** Handler of the socket: serves `env.ASSETS.fetch()`, or the namespace of a Workers Site. */
  readonly endpoint: HttpHandler;
  /** Kind of the script's binding: a service, or a key-value namespace for a Workers Site. */
  readonly bindingKind: "service" | "key-value namespace";
  /**
   * Returns a handler that serves assets or calls `script`, as the configuration decides. `script` is
   * undefined when there are only assets.
   */
  serveBefore(script: HttpHandler | undefined, observer?: HostObserver): HttpHandler;
  close(): void;
}

/** Throws an AssetsError when the directory cannot be served. */
export async function openSandboxAssets(settings: SandboxAssetsOptions): Promise<SandboxAssets> {
  const { assets: options, mode, location, compatibilityDate, compatibilityFlags } = settings;
  const assets = await openAssets(options, { mode, location });
  const answerOptions: AnswerOptions = { notFound: options.notFoundHandling, otherMethods: "refuse" };
  const isSite = options.binding === siteBinding;

  const serveAsset: HttpHandler = async (request) => {
    if (!hasValidHost(request)) return refuse(request);
    try {
      // The runtime follows redirects, by further requests to this endpoint.
      return (await assets.answer(assetRequestFrom(request), answerOptions)) ?? emptyResponse(404);
    } catch (error) {
      console.error(error);
      return emptyResponse(500);
    }
  };

  return {
    endpoint: isSite ? createSiteEndpoint(assets, options) : serveAsset,
    bindingKind: isSite ? "key-value namespace" : "service",
    serveBefore: (script, observer) =>
      withAssets({ assets, options, script, refuse, observer, compatibilityDate, compatibilityFlags }),
    close: () => assets.close(),
  };
}

const refuse: HttpHandler = () => ({
  status: 400,
  headers: [["content-type", "text/plain; charset=utf-8"]],
  body: "Bad Request: the request names no valid host.\n",
});
