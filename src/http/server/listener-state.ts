// State that the requests of one listener share: counters, and access to Node's internals.
import type { IncomingMessage } from "node:http";
import { type NodeInternals, type NodeInternalsSetting, openNodeInternals } from "./node-internals.ts";

/** Bodies that are being received and sent now. */
export interface OpenStreams {
  incoming: number;
  outgoing: number;
}

export interface ListenerState {
  readonly internals: NodeInternals;
  readonly streams: OpenStreams;
  /** Requests whose receiver reads nothing at present: their clients must not time out. */
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
