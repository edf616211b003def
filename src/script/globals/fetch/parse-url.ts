// Parses the URLs that scripts give to Request, fetch and Response.redirect.

/** Where undici's setGlobalOrigin keeps the base of relative URLs; Node's fetch reads the same. */
const originKey = Symbol.for("undici.globalOrigin.1");

export function baseUrl(): URL | undefined {
  return (globalThis as { [originKey]?: URL })[originKey];
}

/** Undefined when the text is not a URL, or is a relative one and there is no base. */
export function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    const base = baseUrl();
    return base !== undefined && URL.canParse(text, base.href) ? new URL(text, base) : undefined;
  }
}
