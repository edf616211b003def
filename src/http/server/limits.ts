// How much one port takes on at a time. The limits of a port are divided among the processes that serve it.
import type { NodeInternalsSetting } from "./node-internals.ts";

export interface PortLimits {
  /** Open connections. At the limit idle ones make room for new ones; when all are busy, new ones are closed. */
  readonly connections: number;
  /** Open connections of one client address. Proxies that are trusted are exempt. */
  readonly connectionsPerAddress: number;
  /** Requests that are being served. More are answered 503. */
  readonly requests: number;
  /** Pipelined requests that wait for the response before them. A connection that adds more is closed. */
  readonly pipelined: number;
  /** Files and connections that each process may have open, as the system allows. */
  readonly descriptors: number;
  /** Not a limit, but set with them: it must reach every process that serves a port. */
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

/** Header lines of a request; their size is limited too. */
export const maxHeaderLines = 512;

/** Descriptors that are left for databases, logs and what a request opens besides its connection. */
const reservedDescriptors = 128;
const descriptorsPerConnection = 2;

export interface LimitShare {
  /** Processes that serve the port. */
  readonly processes: number;
  /** Ports that such a process serves. */
  readonly ports: number;
}

/** What one process takes of a port's limits, and never more than its descriptors allow. */
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

/** One process serves the console, public buckets and the front of several scripts. */
export const supervisorShare: LimitShare = { processes: 1, ports: 3 };
