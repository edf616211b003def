// Looks up the asset or redirect for a request.
import { URL } from "node:url";
import { type AssetRequest, decodePath, encodePath } from "./asset-request.ts";
import { type AssetPaths, type ResolveRules, resolvePath } from "./resolve-path.ts";
import type { Redirect, Redirects } from "./rules/parse-redirects.ts";
import { fillIn } from "./rules/path-pattern.ts";

export type FoundAsset =
  | { readonly kind: "asset"; readonly path: string; readonly status: 200 | 404 }
  /** A redirect to the canonical path of the asset. */
  | { readonly kind: "canonical"; readonly location: string }
  | { readonly kind: "redirect"; readonly status: number; readonly location: string }
  /** The target of a `_redirects` rule is missing: the response is a 404, even with a script. */
  | { readonly kind: "missing" };

export function findAsset(
  request: AssetRequest,
  { files, redirects }: { readonly files: AssetPaths; readonly redirects: Redirects },
  rules: ResolveRules,
): FoundAsset | undefined {
  const redirect = findRedirect(request.pathname, redirects);
  if (redirect !== undefined && redirect.status !== 200) {
    return { kind: "redirect", status: redirect.status, location: buildLocation(redirect, request) };
  }
  const pathname = redirect === undefined ? request.pathname : resolveTarget(redirect, request).pathname;
  const path = decodePath(pathname);
  const resolution = resolvePath(path, files, rules);
  if (resolution === undefined) return redirect === undefined ? undefined : { kind: "missing" };
  const canonical = encodePath(resolution.kind === "redirect" ? resolution.path : path);
  if (resolution.kind === "redirect" || canonical !== pathname) {
    return { kind: "canonical", location: canonical + request.search };
  }
  return resolution;
}

function findRedirect(pathname: string, redirects: Redirects): Redirect | undefined {
  const fixed = redirects.static.get(pathname);
  if (fixed !== undefined) return fixed;
  for (const { pattern, to, status } of redirects.dynamic) {
    const captures = pattern.match(pathname);
    if (captures === undefined) continue;
    const filled = fillIn(to, captures);
    // An empty capture leaves two slashes; at the beginning of a path they would name another host.
    return { status, to: /^\w+:\/\//.test(to) ? filled : filled.replace(/\/+/g, "/") };
  }
  return undefined;
}

function resolveTarget({ to }: Redirect, { host }: AssetRequest): URL {
  return new URL(to.startsWith("/") ? `https://${host}${to}` : to);
}

/** If the target has no query, the query of the request is appended. */
function buildLocation(redirect: Redirect, request: AssetRequest): string {
  const target = resolveTarget(redirect, request);
  const search = target.search === "" ? request.search : target.search;
  const isSameHost = redirect.to.startsWith("/") || target.host === request.host;
  return `${isSameHost ? "" : target.origin}${target.pathname}${search}${target.hash}`;
}
