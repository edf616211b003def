// The assets binding in env: a script fetches an asset by URL. The host of the URL is ignored.
import { ReadableStream } from "node:stream/web";
import { URL } from "node:url";
import { declareLength } from "../../binding/fixed-length-stream.ts";
import type { ByteSource, HttpResponse } from "../../http/server/listen.ts";
import type { AssetsOptions } from "../bindings.ts";
import { ScriptRequest } from "../globals/fetch/request.ts";
import { ScriptResponse } from "../globals/fetch/response.ts";
import { type AssetRequest, splitUrl } from "./asset-request.ts";
import type { Assets } from "./assets.ts";
import { emptyResponse } from "./respond.ts";

export interface AssetsBinding {
  fetch(input: Request | URL | string, init?: RequestInit): Promise<Response>;
}

const maxRedirects = 20;

export function bindAssets(assets: Assets, options: AssetsOptions): AssetsBinding {
  const answerOptions = { notFound: options.notFoundHandling, otherMethods: "refuse" } as const;
  return {
    async fetch(input, init) {
      const request = new ScriptRequest(input, init) as unknown as Request;
      let url = new URL(request.url);
      for (let redirects = 0; ; redirects++) {
        request.signal.throwIfAborted();
        const response =
          (await assets.answer(assetRequest(request, url), answerOptions)) ?? emptyResponse(404);
        const location = findLocation(response);
        if (location === undefined || request.redirect === "manual") return toResponse(response);
        const next = new URL(location, url);
        if (request.redirect === "error" || redirects === maxRedirects) {
          throw new TypeError(`The asset ${url.pathname} redirects to ${next.href}.`);
        }
        // Assets exist for this host only, so a redirect to another host is returned to the script.
        if (next.origin !== url.origin) return toResponse(response);
        url = next;
      }
    },
  };
}

function assetRequest({ method, headers }: Request, url: URL): AssetRequest {
  return { method, ...splitUrl(url), header: (name) => headers.get(name) ?? undefined };
}

function findLocation({ status, headers }: HttpResponse): string | undefined {
  if (status < 301 || status > 308 || status === 304) return undefined;
  for (const [name, value] of headers) if (name === "location") return value;
  return undefined;
}

function toResponse({ status, headers, body }: HttpResponse): Response {
  const list = [...headers].map(([name, value]): [string, string] => [name, value]);
  return new ScriptResponse(toBody(body), { status, headers: list }) as unknown as Response;
}

function toBody(body: HttpResponse["body"]): ConstructorParameters<typeof Response>[0] {
  if (body === null || typeof body === "string") return body;
  // Copied, because the script may modify the bytes that it receives.
  if (body instanceof Uint8Array) return new Uint8Array(body);
  return toStream(body);
}

function toStream(source: ByteSource): ReadableStream<Uint8Array> {
  const chunks = source.chunks()[Symbol.asyncIterator]();
  const stream: ReadableStream<Uint8Array> = new ReadableStream({
    type: "bytes",
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done !== true) return controller.enqueue(new Uint8Array(value));
      controller.close();
      controller.byobRequest?.respond(0);
    },
    async cancel(reason) {
      await source.cancel(reason);
    },
  });
  declareLength(stream, source.length!);
  return stream;
}
