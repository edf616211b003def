// Limits of one port. They are divided among the processes that serve the port.
import type { NodeInternalsSetting } from "./node-internals.ts";

export interface PortLimits {
  /** Maximum connections. At the limit, an idle one is closed, or the new one if all are busy. */
  readonly connections: number;
  /** Maximum open connections of one IPv4 address or IPv6 /64 network. Trusted proxies are exempt. */
  readonly connectionsPerAddress: number;
  /** Maximum requests in flight. Further requests get 503. */
  readonly requests: number;
  /** Maximum waiting pipelined requests. A connection that adds more is closed. */
  readonly pipelined: number;
  /** Maximum open files and connections of a process, set by the operating system. */
  readonly descriptors: number;
  /** Not a limit, but passed like the limits to every process that serves a port. */
  readonly nodeInternals: NodeInternalsSetting;
}

export const defaultPortLimits: PortLimits = {
  connections: 16_384,
  connectionsPerAddress: 4096,
  requests: 4096,
  pipelined: 8192,
  descriptors: 1024,
  nodeInternals: "on",
};

/** Maximum header lines of a request; their total size is limited too. */
export const maxHeaderLines = 512;

/** Descriptors reserved for databases, logs and the files of requests. */
const reservedDescriptors = 128;
const descriptorsPerConnection = 2;

export interface LimitShare {
  /** Number of processes that serve the port. */
  readonly processes: number;
  /** Number of ports that one process serves. */
  readonly ports: number;
}

/** Returns the limits of one process, which also depend on its descriptors. */
export function divideLimits(limits: PortLimits, { processes, ports }: LimitShare): PortLimits {
  const { connections, connectionsPerAddress, requests, pipelined, descriptors } = limits;
  const spare = Math.max(descriptors - reservedDescriptors, descriptors / 2);
  const affordable = Math.max(1, Math.floor(spare / descriptorsPerConnection / ports));
  const share = (limit: number) => Math.max(1, Math.ceil(limit / processes));
  return {
    connections: Math.min(share(connections), affordable),
    connectionsPerAddress: share(connectionsPerAddress),
    requests: share(requests),
    pipelined: share(pipelined),
    descriptors,
    nodeInternals: limits.nodeInternals,
  };
}

/** The console, public buckets, the port of scripts, sockets of buckets, calls between scripts. */
export const supervisorShare: LimitShare = { processes: 1, ports: 5 };
