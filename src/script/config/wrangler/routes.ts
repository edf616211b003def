// Routes of a wrangler file as ours: its patterns may have a scheme, no path, and a star before a host; a custom
// domain is every path of its host.
import { parseRoute } from "../route-patterns.ts";
import { isTable } from "../syntax/fields.ts";
import type { ConfigPath } from "../syntax/positions.ts";

export interface FoundRoute {
  /** A string as ours, or what was written where it cannot be translated. */
  readonly route: unknown;
  readonly inFile: ConfigPath;
}

/** The routes of both keys; a `routes` that is not a list is returned as it is, for the check to report. */
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
  // "*example.com" is the host itself and every host below it.
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
