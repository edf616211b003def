// Maps a URL path to an asset, or to a redirect if the path is not canonical. Reads no files: only
// the paths of the assets are used.
import type { AssetsOptions } from "../bindings.ts";

export interface AssetPaths {
  has(path: string): boolean;
}

export type ResolveRules = Pick<AssetsOptions, "htmlHandling" | "notFoundHandling">;

export type Resolution =
  | { readonly kind: "asset"; readonly path: string; readonly status: 200 | 404 }
  | { readonly kind: "redirect"; readonly path: string };

/** `path` is decoded and has no empty segments. Undefined when there is nothing to serve. */
export function resolvePath(path: string, assets: AssetPaths, rules: ResolveRules): Resolution | undefined {
  for (const { file, url } of candidates(path, rules.htmlHandling)) {
    if (!assets.has(file)) continue;
    if (url === path) return { kind: "asset", path: file, status: 200 };
    if (!assets.has(url) && servedAt(url, assets, rules) === file) return { kind: "redirect", path: url };
  }
  return notFound(path, assets, rules);
}

/** Returns the asset that is served at this path without a redirect. */
function servedAt(path: string, assets: AssetPaths, { htmlHandling }: ResolveRules): string | undefined {
  return candidates(path, htmlHandling).find(({ file, url }) => url === path && assets.has(file))?.file;
}

/** An asset that a path may mean, and the canonical URL path of the asset. */
interface Candidate {
  readonly file: string;
  readonly url: string;
}

type HtmlHandling = AssetsOptions["htmlHandling"];

/** Returns the candidates in order of precedence. */
function candidates(path: string, handling: HtmlHandling): readonly Candidate[] {
  const exact = { file: path, url: path };
  if (handling === "none") return [exact];
  const plain = [exact, page(path, handling), folder(path, handling)];
  const [, stem = "", ending] = /^(.*?)(\/index\.html|\/index|\/|\.html)?$/s.exec(path) ?? [];
  if (ending === undefined) return plain;
  const html = page(stem, handling);
  const index = folder(stem, handling);
  const both = handling === "drop-trailing-slash" ? [html, index] : [index, html];
  if (ending === "/index") return [exact, ...both, ...plain];
  if (ending === "/index.html") return [index, exact, html, ...plain];
  if (ending === "/") return [...both, ...plain];
  return handling === "force-trailing-slash" ? [html, exact, index, ...plain] : [html, index, ...plain];
}

function page(stem: string, handling: HtmlHandling): Candidate {
  return { file: `${stem}.html`, url: handling === "force-trailing-slash" ? `${stem}/` : stem };
}

function folder(stem: string, handling: HtmlHandling): Candidate {
  // The path of the root is always "/".
  const url = handling === "drop-trailing-slash" && stem !== "" ? stem : `${stem}/`;
  return { file: `${stem}/index.html`, url };
}

function notFound(
  path: string,
  assets: AssetPaths,
  { notFoundHandling }: ResolveRules,
): Resolution | undefined {
  if (notFoundHandling === "single-page-application") {
    return assets.has("/index.html") ? { kind: "asset", path: "/index.html", status: 200 } : undefined;
  }
  if (notFoundHandling === "none") return undefined;
  for (let end = path.lastIndexOf("/"); end !== -1; end = path.lastIndexOf("/", end - 1)) {
    const nearest = `${path.slice(0, end)}/404.html`;
    if (assets.has(nearest)) return { kind: "asset", path: nearest, status: 404 };
    if (end === 0) break;
  }
  return undefined;
}
