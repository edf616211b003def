// State shared by all requests of one listener: counters, and access to Node's internals.
import type { IncomingMessage } from "node:http";
import { type NodeInternals, type NodeInternalsSetting, openNodeInternals } from "./node-internals.ts";

/** Numbers of bodies that are being received and sent. */
export interface OpenStreams {
  incoming: number;
  outgoing: number;
}

export interface ListenerState {
  readonly internals: NodeInternals;
  readonly streams: OpenStreams;
  /** Requests whose handler has paused reading: their clients must not time out. */
  readonly pausedByReceiver: WeakSet<IncomingMessage>;
}

export function createOpenStreams(): OpenStreams {
  return { incoming: 0, outgoing: 0 };
}

export function createListenerState(
  nodeInternals: NodeInternalsSetting = "on",
  streams = createOpenStreams(),
): ListenerState {
  return { internals: openNodeInternals(nodeInternals), streams, pausedByReceiver: new WeakSet() };
}
