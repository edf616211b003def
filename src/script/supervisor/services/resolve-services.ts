// Decides what the service bindings of a script reach: another script of this server, or an entry
// point of the script itself. What does not exist becomes a binding that throws with the reason.
import type { EntryPoint, Isolation, ServiceBinding, UnsupportedBinding } from "../../bindings.ts";

/** A script of this server, as others bind it. */
export interface ServiceScript {
  readonly name: string;
  readonly isolation: Isolation;
  readonly services: readonly ServiceBinding[];
}

export interface RoutedScript extends ServiceScript {
  readonly routes: readonly string[];
}

export interface ResolvedServices {
  readonly services: readonly ServiceBinding[];
  readonly missing: readonly UnsupportedBinding[];
}

/** `scripts` are all scripts of the server, by name. */
export function resolveServices(
  { services }: Pick<ServiceScript, "services">,
  scripts: readonly ServiceScript[],
): ResolvedServices {
  const resolved = services.map((service) => ({ service, fault: findFault(service, scripts) }));
  return {
    services: resolved.flatMap(({ service, fault }) => (fault === undefined ? [service] : [])),
    missing: resolved.flatMap(({ service: { binding, service }, fault }) =>
      fault === undefined ? [] : [{ binding, kind: `a service binding to "${service}"`, fault }],
    ),
  };
}

function findFault({ service, entrypoint, props }: ServiceBinding, scripts: readonly ServiceScript[]) {
  const target = scripts.find(({ name }) => name === service);
  if (target === undefined) {
    return `this server does not run the script "${service}". Add its configuration: --config FILE`;
  }
  if (target.isolation === "sandbox") return undefined;
  if (entrypoint === undefined && props === undefined) return undefined;
  return `the script "${service}" runs as a process, whose default export is all that can be called`;
}

/**
 * Returns the scripts that clients reach. Another script calls the others: they have no routes, and
 * are not the first on the command line.
 */
export function reachableScripts<T extends RoutedScript>(scripts: readonly T[]): readonly T[] {
  const isCalled = (name: string) =>
    scripts.some((other) => other.name !== name && other.services.some(({ service }) => service === name));
  return scripts.filter(({ name, routes }, i) => i === 0 || routes.length > 0 || !isCalled(name));
}

/** Returns the entry points of a script that other scripts bind, each once. */
export function boundEntryPoints(name: string, scripts: readonly ServiceScript[]): readonly EntryPoint[] {
  const found = new Map<string, EntryPoint>();
  for (const script of scripts) {
    if (script.name === name || script.isolation !== "sandbox") continue;
    for (const { service, entrypoint, props } of script.services) {
      if (service === name) found.set(entryPointKey({ entrypoint, props }), { entrypoint, props });
    }
  }
  return [...found.values()];
}

/** Equal for equal entry points. */
export function entryPointKey({ entrypoint, props }: EntryPoint): string {
  return JSON.stringify([entrypoint ?? null, props ?? null]);
}
