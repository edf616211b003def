// Finds links and anchors in the pages of the built site.
import { posix } from "node:path";
import type { Site } from "../../../docs-site/build-site.ts";

export function htmlPages({ files }: Site): [url: string, html: string][] {
  return [...files].flatMap(([url, content]) =>
    url.endsWith(".html") && typeof content === "string" ? [[url, content] as [string, string]] : [],
  );
}

/** Returns every `href` and `src` of a page, as written. */
export function targetsIn(html: string): string[] {
  return [...html.matchAll(/ (?:href|src)="([^"]*)"/g)].map(([, target]) => target!);
}

export function anchorsIn(html: string): string[] {
  return [...html.matchAll(/ id="([^"]*)"/g)].map(([, anchor]) => anchor!);
}

/** Resolves a link of a page to a URL of the site and an anchor; undefined for other sites. */
export function resolveLink(
  page: string,
  target: string,
): { readonly url: string; readonly anchor: string | undefined } | undefined {
  if (/^[a-z]+:/.test(target)) return undefined;
  const [path = "", anchor] = target.split("#");
  if (path === "") return { url: page, anchor };
  const url = path.startsWith("/") ? path.slice(1) : posix.join(posix.dirname(page), path);
  return { url: url.endsWith("/") || url === "" ? `${url}index.html` : url, anchor };
}
