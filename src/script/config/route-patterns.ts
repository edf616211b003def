// Route patterns: which requests a script receives. A pattern is `host/path`:
//
//   photos.example.com/*      every path of this host
//   *.example.com/api/*       every subdomain of example.com, paths that start with /api/
//   */health                  every host, only the path /health
//
// `*` may replace the whole host, its first labels, or the end of the path. A pattern has no
// scheme, port, query or fragment. Hosts are compared in lower case, paths exactly as sent.
import { domainToASCII } from "node:url";

export interface Route {
  readonly pattern: string;
  /** Undefined: every host. With `below`: only subdomains of `name`, not `name` itself. */
  readonly host: { readonly name: string; readonly below: boolean } | undefined;
  /** With `open`: every path that starts with `prefix`; otherwise only `prefix` itself. */
  readonly path: { readonly prefix: string; readonly open: boolean };
}

const label = "[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?";
const hostShape = new RegExp(`^${label}(?:\\.${label})*$|^\\[[0-9a-f:.]+\\]$`);

/** Throws a RangeError that states the fault of an invalid pattern and how to fix it. */
export function parseRoute(pattern: string): Route {
  if (pattern === "") throw new RangeError("The route is empty: write host/path, such as example.com/*");
  const scheme = /^[a-z][a-z0-9+.-]*:\/\//i.exec(pattern)?.[0];
  if (scheme !== undefined) {
    throw new RangeError(`A route has no scheme: write ${pattern.slice(scheme.length)}`);
  }
  const slash = pattern.indexOf("/");
  if (slash === -1) throw new RangeError(`The route "${pattern}" has no path: write ${pattern}/*`);
  if (slash === 0) throw new RangeError(`The route "${pattern}" has no host: write *${pattern}`);
  const path = pattern.slice(slash);
  return { pattern, host: parseHost(pattern.slice(0, slash), path), path: parsePath(path, pattern) };
}

function parseHost(text: string, path: string): Route["host"] {
  if (text === "*") return undefined;
  const below = text.startsWith("*.");
  const name = (below ? text.slice(2) : text).toLowerCase();
  if (name.includes("*")) {
    const bare = name.replace(/^\*/, "");
    throw new RangeError(
      name === `*${bare}` && hostShape.test(bare)
        ? `In a host, * stands alone or before a dot: write ${bare}${path} and *.${bare}${path}`
        : `In the host "${text}", * is in the wrong position: write * alone or before the first dot, such as *.example.com${path}`,
    );
  }
  if (/^[^[]*:\d*$|\]:\d*$/.test(name)) {
    throw new RangeError(`A route has no port: write ${text.replace(/:\d*$/, "")}${path}`);
  }
  if (!hostShape.test(name)) {
    const ascii = domainToASCII(name);
    const isForeign = /[^\0-\x7f]/.test(name) && hostShape.test(ascii);
    const instead = isForeign ? `${ascii}${path}` : "one such as photos.example.com";
    throw new RangeError(`"${text}" is not a host name: write ${instead}`);
  }
  return { name, below };
}

function parsePath(path: string, pattern: string): Route["path"] {
  if (/[?#]/.test(path)) {
    throw new RangeError(
      `A route has no query and no fragment: write ${pattern.slice(0, pattern.search(/[?#]/))}`,
    );
  }
  if (/[^\x21-\x7e]/.test(path)) {
    const sent = path.toWellFormed().replace(/[^\x21-\x7e]+/g, encodeURIComponent);
    throw new RangeError(`A path is written as it is sent: write ${pattern.slice(0, -path.length)}${sent}`);
  }
  const star = path.indexOf("*");
  if (star !== -1 && star !== path.length - 1) {
    throw new RangeError(
      `In a path, * stands only at the end: write ${pattern.slice(0, -path.length)}${path.slice(0, star + 1)}`,
    );
  }
  return star === -1 ? { prefix: path, open: false } : { prefix: path.slice(0, -1), open: true };
}
