// Which script answers a request, when several share a server: by host and path, the most exact pattern
// first. A script without routes answers whatever no other one takes.

export interface Routed<T> {
  readonly routes: readonly string[];
  readonly target: T;
}

/** Patterns as `host/path`: `*.` before a host stands for its subdomains, `*` behind a path for all that follows. */
export function createRoutes<T>(
  scripts: readonly Routed<T>[],
): (host: string, target: string) => T | undefined {
  const patterns = scripts.flatMap(({ routes, target }) =>
    routes.map((route) => ({ ...parseRoute(route), target })),
  );
  patterns.sort((a, b) => b.weight - a.weight);
  const fallback = scripts.find(({ routes }) => routes.length === 0)?.target;
  return (host, target) => {
    const name = host.replace(/:\d+$/, "").toLowerCase();
    const path = target.split("?", 1)[0]!;
    return patterns.find((pattern) => pattern.matches(name, path))?.target ?? fallback;
  };
}

interface Route {
  matches(host: string, path: string): boolean;
  /** More exact patterns weigh more. */
  readonly weight: number;
}

function parseRoute(route: string): Route {
  const slash = route.indexOf("/");
  const host = (slash === -1 ? route : route.slice(0, slash)).toLowerCase();
  const path = slash === -1 ? "/*" : route.slice(slash);
  const pathStart = path.replace(/\*$/, "");
  const isOpenPath = path.endsWith("*");
  const suffix = host.startsWith("*") ? host.slice(1) : undefined;
  return {
    matches: (name, wanted) =>
      (suffix === undefined ? name === host : name.endsWith(suffix)) &&
      (isOpenPath ? wanted.startsWith(pathStart) : wanted === path),
    weight: (suffix === undefined ? 1e6 : suffix.length * 1e3) + pathStart.length + (isOpenPath ? 0 : 0.5),
  };
}
