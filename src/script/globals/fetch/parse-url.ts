// Parses the URLs that scripts pass to Request, fetch and Response.redirect.
import { URL } from "node:url";

/** Key under which undici's setGlobalOrigin stores the base of relative URLs. */
const originKey = Symbol.for("undici.globalOrigin.1");

export function baseUrl(): URL | undefined {
  return (globalThis as { [originKey]?: URL })[originKey];
}

/** Undefined when the text is not a URL, or is a relative URL without a base. */
export function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    const base = baseUrl();
    return base !== undefined && URL.canParse(text, base.href) ? new URL(text, base) : undefined;
  }
}
