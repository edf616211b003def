// One HTTP handler for assets and a script: decides which of the two answers a request.
import type { HttpHandler, HttpRequest, HttpResponse } from "../../http/server/listen.ts";
import { assetRequestFrom } from "../assets/asset-request.ts";
import type { Answered, AnswerOptions, Assets } from "../assets/assets.ts";
import { emptyResponse } from "../assets/respond.ts";
import { type Compatibility, createDestinations, prefersAssets } from "../assets/worker-first.ts";
import type { AssetsOptions } from "../bindings.ts";
import { addId, type Begun, beginExchange, type HostObserver } from "./exchange.ts";
import { namesHost } from "./host-header.ts";

export interface WithAssetsOptions extends Compatibility {
  readonly assets: Assets;
  readonly options: AssetsOptions;
  /** Undefined: the assets answer every request. */
  readonly script: HttpHandler | undefined;
  /** Answers requests that name no host. */
  readonly refuse: HttpHandler;
  readonly observer: HostObserver | undefined;
}

export function withAssets(given: WithAssetsOptions): HttpHandler {
  const { assets, options, script, refuse, observer } = given;
  const { notFoundHandling, runWorkerFirst } = options;
  const destinationOf = createDestinations(runWorkerFirst);
  const isNavigationServed = prefersAssets(given);
  const alone: AnswerOptions = { notFound: notFoundHandling, otherMethods: "refuse" };
  const withPage: AnswerOptions = { notFound: notFoundHandling, otherMethods: "pass on" };
  const withoutPage: AnswerOptions = { notFound: "none", otherMethods: "pass on" };

  /** With patterns in `run_worker_first`, the script has its paths already. */
  function beforeScript(request: HttpRequest): AnswerOptions {
    const isNavigation = isNavigationServed && request.header("sec-fetch-mode") === "navigate";
    return typeof runWorkerFirst !== "boolean" || isNavigation ? withPage : withoutPage;
  }

  return (request) => {
    if (!namesHost(request)) return refuse(request);
    if (runWorkerFirst === true && script !== undefined) return script(request);
    const asked = assetRequestFrom(request);
    const destination = script === undefined ? "assets" : destinationOf(asked.pathname);
    if (destination === "script") return script!(request);
    const begun = beginExchange(request, observer);
    const finish = (answered: Answered) => {
      if (answered !== undefined) return sent(answered, begun);
      return destination === "assets" ? sent(emptyResponse(404), begun) : script!(request);
    };
    const fail = (error: unknown) => {
      console.error(error);
      return sent(emptyResponse(500), begun);
    };
    const answered = assets.answer(asked, destination === "assets" ? alone : beforeScript(request));
    if (!(answered instanceof Promise)) return finish(answered);
    return answered.then(finish, fail);
  };
}

function sent({ status, headers, body }: HttpResponse, begun: Begun | undefined): HttpResponse {
  if (begun === undefined) return { status, headers, body };
  begun.status = status;
  if (begun.id === undefined) return { status, headers, body, onSent: begun.onSent };
  const list = [...headers].map(([name, value]): [string, string] => [name, value]);
  addId(list, begun.id);
  return { status, headers: list, body, onSent: begun.onSent };
}
