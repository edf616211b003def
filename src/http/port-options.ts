// Options of a server's ports, and opening a port in the process that supervises the others.
import { parseTrustedPeers } from "./server/forwarded.ts";
import { divideLimits, type PortLimits, supervisorShare } from "./server/limits.ts";
import { type HttpHandler, type HttpListener, type ListenOptions, listen } from "./server/listen.ts";
import type { OpenStreams } from "./server/listener-state.ts";
import type { PortAddress } from "./server/shared-listener.ts";
import type { TlsSource } from "./tls/tls.ts";
import type { UpgradeHandler } from "./upgrade.ts";

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

export interface Upgrades {
  /** Handles requests for WebSockets; default: they are handled like other requests. */
  readonly upgrade?: UpgradeHandler | undefined;
}

/** Opens a port with this process's share of the limits. */
export function listenInSupervisor(
  handler: HttpHandler,
  { host, port, whenTaken }: PortAddress,
  { trusted, limits, tls, probe, streams, shortRequests, upgrade }: PortOptions & Upgrades,
): Promise<HttpListener> {
  const peers = trusted.length === 0 ? undefined : parseTrustedPeers(trusted);
  const share = divideLimits(limits, supervisorShare);
  const options = { tls, trusted: peers, limits: share, probe, streams, shortRequests, upgrade };
  return listen(handler, { host, port, whenTaken }, options);
}
