// HTTP handler for assets and a script: decides which of them handles a request.
import console from "node:console";
import type { HttpHandler, HttpRequest, HttpResponse } from "../../http/server/listen.ts";
import { assetRequestFrom } from "../assets/asset-request.ts";
import type { AnswerOptions, AssetAnswer, Assets } from "../assets/assets.ts";
import { emptyResponse } from "../assets/respond.ts";
import { type Compatibility, createDestinationChooser, prefersAssets } from "../assets/worker-first.ts";
import type { AssetsOptions } from "../bindings.ts";
import { addRequestId, beginExchange, type ExchangeState, type HostObserver } from "./exchange.ts";
import { hasValidHost } from "./host-header.ts";

export interface WithAssetsOptions extends Compatibility {
  readonly assets: Assets;
  readonly options: AssetsOptions;
  /** Undefined when there are only assets. */
  readonly script: HttpHandler | undefined;
  /** Responds to requests without a valid host. */
  readonly refuse: HttpHandler;
  readonly observer: HostObserver | undefined;
}

export function withAssets(settings: WithAssetsOptions): HttpHandler {
  const { assets, options, script, refuse, observer } = settings;
  const { notFoundHandling, runWorkerFirst } = options;
  const chooseDestination = createDestinationChooser(runWorkerFirst);
  const isNavigationServed = prefersAssets(settings);
  const assetsOnly: AnswerOptions = { notFound: notFoundHandling, otherMethods: "refuse" };
  const withPage: AnswerOptions = { notFound: notFoundHandling, otherMethods: "pass on" };
  const withoutPage: AnswerOptions = { notFound: "none", otherMethods: "pass on" };

  /** Options for trying assets before the script: with or without the not-found page. */
  function beforeScript(request: HttpRequest): AnswerOptions {
    const isNavigation = isNavigationServed && request.header("sec-fetch-mode") === "navigate";
    // With patterns in `run_worker_first`, requests for the script's paths do not get here.
    return typeof runWorkerFirst !== "boolean" || isNavigation ? withPage : withoutPage;
  }

  return (request) => {
    if (!hasValidHost(request)) return refuse(request);
    if (runWorkerFirst === true && script !== undefined) return script(request);
    const assetRequest = assetRequestFrom(request);
    const destination = script === undefined ? "assets" : chooseDestination(assetRequest.pathname);
    if (destination === "script") return script!(request);
    const exchange = beginExchange(request, observer);
    const finish = (answer: AssetAnswer) => {
      if (answer !== undefined) return recordResponse(answer, exchange);
      return destination === "assets" ? recordResponse(emptyResponse(404), exchange) : script!(request);
    };
    const fail = (error: unknown) => {
      console.error(error);
      return recordResponse(emptyResponse(500), exchange);
    };
    const answer = assets.answer(assetRequest, destination === "assets" ? assetsOnly : beforeScript(request));
    if (!(answer instanceof Promise)) return finish(answer);
    return answer.then(finish, fail);
  };
}

function recordResponse(
  { status, headers, body }: HttpResponse,
  exchange: ExchangeState | undefined,
): HttpResponse {
  if (exchange === undefined) return { status, headers, body };
  exchange.status = status;
  if (exchange.id === undefined) return { status, headers, body, onSent: exchange.onSent };
  const list = [...headers].map(([name, value]): [string, string] => [name, value]);
  addRequestId(list, exchange.id);
  return { status, headers: list, body, onSent: exchange.onSent };
}
