// Translates routes of a wrangler file: a pattern may have a scheme, no path, or a star directly
// before a host. A custom domain matches every path of its host.
import { parseRoute } from "../route-patterns.ts";
import { isTable } from "../syntax/fields.ts";
import type { ConfigPath } from "../syntax/positions.ts";

export interface FoundRoute {
  /** The translated pattern, or the original value if it cannot be translated. */
  readonly route: unknown;
  readonly inFile: ConfigPath;
}

/** Combines `route` and `routes`. Returns undefined if `routes` is not a list. */
export function wranglerRoutes(route: unknown, routes: unknown): readonly FoundRoute[] | undefined {
  const single = route === undefined || route === "" ? [] : routesAt(route, ["route"]);
  if (routes === undefined) return single;
  if (!Array.isArray(routes)) return undefined;
  return [...single, ...routes.flatMap((one: unknown, index) => routesAt(one, ["routes", index]))];
}

function routesAt(route: unknown, inFile: ConfigPath): FoundRoute[] {
  if (!isTable(route)) {
    return typeof route === "string" ? translateRoute(route, inFile) : [{ route, inFile }];
  }
  const { pattern, custom_domain } = route;
  const path = pattern === undefined ? inFile : [...inFile, "pattern"];
  if (typeof pattern !== "string") return [{ route: pattern ?? null, inFile: path }];
  return custom_domain === true && !pattern.includes("/")
    ? [{ route: `${pattern}/*`, inFile: path }]
    : translateRoute(pattern, path);
}

function translateRoute(pattern: string, inFile: ConfigPath): FoundRoute[] {
  const bare = pattern.replace(/^https?:\/\//i, "");
  // Without a path, only the root of the host matches.
  const whole = bare.includes("/") ? bare : `${bare}/`;
  // "*example.com" matches the host itself and every subdomain.
  const apex = /^\*([^.*/][^*/]*\/.*)$/.exec(whole)?.[1];
  const routes = apex === undefined ? [whole] : [apex, `*.${apex}`];
  return routes.map((route) => ({ route, inFile }));
}

export function isRoute(route: unknown): boolean {
  if (typeof route !== "string") return false;
  try {
    parseRoute(route);
    return true;
  } catch {
    return false;
  }
}
