// Selects the script for a request by host and path; the most specific pattern wins. A script
// without routes receives all requests that match no route.
import { parseRoute, type Route } from "../config/route-patterns.ts";

export interface RouteEntry<T> {
  readonly routes: readonly string[];
  readonly target: T;
}

export function createRoutes<T>(
  scripts: readonly RouteEntry<T>[],
): (host: string, target: string) => T | undefined {
  const candidates = scripts.flatMap(({ routes, target }) =>
    routes.map((text) => ({ route: parseRoute(text), target })),
  );
  candidates.sort((a, b) => specificity(b.route) - specificity(a.route));
  const fallback = scripts.find(({ routes }) => routes.length === 0)?.target;
  return (host, target) => {
    // The host of an absolute URL as target overrides the Host header (RFC 9112 3.2.2).
    const [, authority, rest] = /^https?:\/\/([^/?]*)(.*)$/i.exec(target) ?? [target, host, target];
    const name = authority!.replace(/:\d+$/, "").toLowerCase();
    const path = rest!.split("?", 1)[0] || "/";
    return candidates.find(({ route }) => matches(route, name, path))?.target ?? fallback;
  };
}

function matches({ host, path }: Route, name: string, requestPath: string): boolean {
  const matchesHost =
    host === undefined || (host.below ? name.endsWith(`.${host.name}`) : name === host.name);
  return matchesHost && (path.open ? requestPath.startsWith(path.prefix) : requestPath === path.prefix);
}

/** Ranks exact hosts above subdomains above any host, then longer paths, then exact paths. */
function specificity({ host, path }: Route): number {
  const hostScore = host === undefined ? 0 : host.below ? host.name.length : 1000;
  return hostScore * 1e5 + path.prefix.length + (path.open ? 0 : 0.5);
}
