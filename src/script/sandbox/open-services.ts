// Opens the sockets on which a sandbox calls other scripts.
import { join } from "node:path";
import type { ServiceBinding } from "../bindings.ts";
import { socketNames } from "./runtime/runtime-config.ts";

/** The socket of a service binding, in the sandbox of the calling script. */
export interface CallerSocket {
  readonly path: string;
  readonly caller: string;
}

/** Serves a service binding; the returned function ends it after the calls in flight. */
export type ServeService = (service: ServiceBinding, socket: CallerSocket) => Promise<() => void>;

export interface OpenServicesOptions {
  /** Name of the calling script, which needs no socket for its own entry points. */
  readonly script: string;
  readonly sockets: string;
  readonly serve: ServeService;
}

/** Returns a function that closes all of them. */
export async function openServices(
  services: readonly ServiceBinding[],
  { script, sockets, serve }: OpenServicesOptions,
): Promise<() => void> {
  const endings: (() => void)[] = [];
  const close = () => {
    for (const end of endings) end();
  };
  try {
    for (const [index, service] of services.entries()) {
      if (service.service === script) continue;
      endings.push(await serve(service, { path: join(sockets, socketNames.service(index)), caller: script }));
    }
    return close;
  } catch (error) {
    close();
    throw error;
  }
}
