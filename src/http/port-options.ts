// Options of a server's ports, and opening a port in the process that supervises the others.
import { parseTrustedPeers } from "./server/forwarded.ts";
import { divideLimits, type PortLimits, supervisorShare } from "./server/limits.ts";
import { type HttpHandler, type HttpListener, type ListenOptions, listen } from "./server/listen.ts";
import type { OpenStreams } from "./server/listener-state.ts";
import type { PortAddress } from "./server/shared-listener.ts";
import type { TlsSource } from "./tls/tls.ts";

/** Options that apply to every port of a server. */
export interface PortOptions {
  /** Enables HTTPS. */
  readonly tls: TlsSource | undefined;
  /** Addresses and CIDR ranges of trusted proxies. */
  readonly trusted: readonly string[];
  /** Limits of all processes together. */
  readonly limits: PortLimits;
  /** The secret that authenticates readiness probes. */
  readonly probe: string;
  /** Counts the bodies in flight in this process. */
  readonly streams?: OpenStreams | undefined;
  readonly shortRequests?: ListenOptions["shortRequests"];
}

/** Opens a port with this process's share of the limits. */
export function listenInSupervisor(
  handler: HttpHandler,
  { host, port, whenTaken }: PortAddress,
  { trusted, limits, tls, probe, streams, shortRequests }: PortOptions,
): Promise<HttpListener> {
  const peers = trusted.length === 0 ? undefined : parseTrustedPeers(trusted);
  const share = divideLimits(limits, supervisorShare);
  return listen(
    handler,
    { host, port, whenTaken },
    { tls, trusted: peers, limits: share, probe, streams, shortRequests },
  );
}
