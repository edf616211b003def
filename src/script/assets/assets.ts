// Static assets: serves requests from the files of a directory, without running a script.
import type { HttpResponse } from "../../http/server/listen.ts";
import type { Location } from "../../model/names/location.ts";
import type { AssetsOptions } from "../bindings.ts";
import type { Mode } from "../context.ts";
import { createAssetContents } from "./asset-contents.ts";
import type { AssetRequest } from "./asset-request.ts";
import { type FoundAsset, findAsset } from "./find-asset.ts";
import { assetResponse, emptyResponse } from "./respond.ts";
import { customHeaders } from "./rules/custom-headers.ts";
import { openDirectory } from "./watched-directory.ts";

export interface Assets {
  /** Undefined when no asset matches the request. */
  answer(request: AssetRequest, options: AnswerOptions): AssetAnswer | Promise<AssetAnswer>;
  close(): void;
}

export type AssetAnswer = HttpResponse | undefined;

export interface AnswerOptions {
  /** How to respond when no asset matches. */
  readonly notFound: AssetsOptions["notFoundHandling"];
  /** Whether methods other than GET and HEAD on an asset are refused or left to the script. */
  readonly otherMethods: "refuse" | "pass on";
}

/** How long a cached file is served without checking whether it has changed. */
const trustMilliseconds: Record<Mode, number> = { dev: 0, serve: 1000 };

export interface AssetsContext {
  readonly mode: Mode;
  /** Location of the store, whose data is never served. */
  readonly location: Location;
}

export async function openAssets(options: AssetsOptions, { mode, location }: AssetsContext): Promise<Assets> {
  const directory = await openDirectory({ ...options, location }, mode);
  const contents = createAssetContents({ trustMilliseconds: trustMilliseconds[mode] });
  const { htmlHandling } = options;
  const { refresh } = directory;

  /** `gone` contains paths that are in the index, but no longer on disk. */
  function answer(
    request: AssetRequest,
    answerOptions: AnswerOptions,
    gone?: Set<string>,
  ): ReturnType<Assets["answer"]> {
    const { files, redirects } = directory.current;
    const presentFiles =
      gone === undefined ? files : { has: (path: string) => files.has(path) && !gone.has(path) };
    const found = findAsset(
      request,
      { files: presentFiles, redirects },
      { htmlHandling, notFoundHandling: answerOptions.notFound },
    );
    if (found === undefined) return undefined;
    const isRead = request.method === "GET" || request.method === "HEAD";
    if (!isRead && found.kind !== "redirect") {
      return answerOptions.otherMethods === "refuse" ? withCustomHeaders(notAllowed, request) : undefined;
    }
    if (found.kind !== "asset") return withCustomHeaders(toResponse(found), request);
    const asset = files.get(found.path)!;
    const response = assetResponse(request, { asset, status: found.status, contents });
    if (!(response instanceof Promise)) return withCustomHeaders(response, request);
    return response.then((read) => {
      if (read !== undefined) return withCustomHeaders(read, request);
      return answer(request, answerOptions, new Set(gone).add(found.path));
    });
  }

  function withCustomHeaders(response: HttpResponse, request: AssetRequest): HttpResponse {
    const { headers: rules } = directory.current;
    if (rules.length === 0) return response;
    return { ...response, headers: customHeaders(response.headers, request, rules) };
  }

  return {
    answer:
      refresh === undefined
        ? (request, answerOptions) => answer(request, answerOptions)
        : (request, answerOptions) => refresh().then(() => answer(request, answerOptions)),
    close: () => directory.close(),
  };
}

const notAllowed = emptyResponse(405, [["allow", "GET, HEAD"]]);

function toResponse(found: Exclude<FoundAsset, { kind: "asset" }>): HttpResponse {
  if (found.kind === "missing") return emptyResponse(404);
  return emptyResponse(found.kind === "canonical" ? 307 : found.status, [["location", found.location]]);
}
