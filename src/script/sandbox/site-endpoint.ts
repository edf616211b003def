// `env.__STATIC_CONTENT` of a sandboxed Workers Site: a read-only namespace whose keys are the names
// of files in the manifest, or their paths, in workerd's key-value protocol.
import { errorResponse } from "../../capability/kv/error-response.ts";
import { type KvRequest, parseRequest } from "../../capability/kv/parse-request.ts";
import type { HttpBody, HttpHandler, HttpResponse } from "../../http/server/listen.ts";
import { KeyValueError } from "../../model/key-value.ts";
import { type AssetRequest, encodePath } from "../assets/asset-request.ts";
import type { Assets } from "../assets/assets.ts";
import { emptyResponse } from "../assets/respond.ts";
import { sitePaths } from "../assets/site-manifest.ts";
import type { AssetsOptions } from "../bindings.ts";
import { siteBinding } from "../config/wrangler/site-names.ts";

export function createSiteEndpoint(assets: Assets, options: AssetsOptions): HttpHandler {
  async function read(key: string): Promise<HttpResponse> {
    for (const path of sitePaths(key)) {
      const request: AssetRequest = {
        ...{ method: "GET", host: "site", pathname: `/${encodePath(path)}`, search: "" },
        header: () => undefined,
      };
      const answer = await assets.answer(request, {
        notFound: options.notFoundHandling,
        otherMethods: "refuse",
      });
      if (answer?.status === 200) return { status: 200, headers: [], body: answer.body };
      await cancel(answer?.body ?? null);
    }
    return emptyResponse(404);
  }

  return async ({ method, target }) => {
    let operation: KvRequest["operation"] | undefined;
    try {
      const request = parseRequest(method, target);
      ({ operation } = request);
      if (request.operation === "get") return await read(request.key);
      throw new KeyValueError(400, `env.${siteBinding} supports only get and getWithMetadata of one key.`);
    } catch (error) {
      return errorResponse(error, { operation, log: console.error });
    }
  };
}

async function cancel(body: HttpBody): Promise<void> {
  if (body !== null && typeof body === "object" && "cancel" in body) await body.cancel(undefined);
}
