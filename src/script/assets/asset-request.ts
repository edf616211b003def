// A request for an asset: the parts of its URL, as the script would see them.
import { URL } from "node:url";
import type { HttpRequest } from "../../http/server/listen.ts";

export interface AssetRequest {
  readonly method: string;
  /** Host name, with the port if the URL has one. */
  readonly host: string;
  /** Percent-encoded, as in `new URL().pathname`. */
  readonly pathname: string;
  /** Query with its question mark; empty without a query. */
  readonly search: string;
  header(name: string): string | undefined;
}

/** Paths that `new URL()` does not change: no dot segments, backslashes or percent-encoding. */
const isPlain = /^(?:\/[\w~-][\w.~-]*)*\/?$/;

/** The caller has checked that the request has a valid host. */
export function assetRequestFrom(request: HttpRequest): AssetRequest {
  const { method, target, header } = request;
  const host = header("host") ?? "localhost";
  const queryStart = target.indexOf("?");
  const pathname = queryStart === -1 ? target : target.slice(0, queryStart);
  if (queryStart === -1 && pathname !== "" && isPlain.test(pathname)) {
    return { method, host, pathname, search: "", header };
  }
  const isAbsolute = /^https?:\/\//i.test(target);
  const path = target.startsWith("/") ? target : "/";
  return { method, header, ...splitUrl(new URL(isAbsolute ? target : `http://${host}${path}`)) };
}

export function splitUrl(url: URL): Pick<AssetRequest, "host" | "pathname" | "search"> {
  const { host, pathname, search } = url;
  return { host, pathname, search };
}

/** Decodes each segment. Invalid segments are kept unchanged; empty segments are removed. */
export function decodePath(pathname: string): string {
  if (!pathname.includes("%") && !pathname.includes("//")) return pathname;
  return pathname.split("/").map(decodeSegment).join("/").replace(/\/+/g, "/");
}

export function encodePath(path: string): string {
  return path.split("/").map(encodeSegment).join("/");
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

function encodeSegment(segment: string): string {
  try {
    return encodeURIComponent(segment);
  } catch {
    return segment;
  }
}
