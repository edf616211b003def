// How much one port accepts at a time. The limits are divided among the processes that serve it.
import type { NodeInternalsSetting } from "./node-internals.ts";

export interface PortLimits {
  /** Open connections. At the limit an idle one is closed, or the new one if all are busy. */
  readonly connections: number;
  /** Open connections of one client address. Trusted proxies are exempt. */
  readonly connectionsPerAddress: number;
  /** Requests in flight. Further requests get 503. */
  readonly requests: number;
  /** Pipelined requests that wait for a response. A connection that adds more is closed. */
  readonly pipelined: number;
  /** Files and connections that the system lets each process open. */
  readonly descriptors: number;
  /** Not a limit, but set with them because it must reach every process that serves a port. */
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

/** Header lines of a request; the bytes of all headers are limited too. */
export const maxHeaderLines = 512;

/** Descriptors reserved for databases, logs and the files of requests. */
const reservedDescriptors = 128;
const descriptorsPerConnection = 2;

export interface LimitShare {
  /** Processes that serve the port. */
  readonly processes: number;
  /** Ports that one process serves. */
  readonly ports: number;
}

/** The share of one process, bounded by its descriptors. */
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
