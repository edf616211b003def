// Tracks the last response of each connection, to distinguish busy from idle connections.
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

const lastResponse = Symbol("last response");

interface TrackedSocket extends Socket {
  [lastResponse]?: ServerResponse;
}

export function setLastResponse(socket: Socket, response: ServerResponse): void {
  (socket as TrackedSocket)[lastResponse] = response;
}

export function getLastResponse(socket: Socket): ServerResponse | undefined {
  return (socket as TrackedSocket)[lastResponse];
}

const upgraded = new WeakSet<Socket>();

/** From now on the connection passes bytes of another protocol. */
export function markUpgraded(socket: Socket): void {
  upgraded.add(socket);
}

export function isUpgraded(socket: Socket): boolean {
  return upgraded.has(socket);
}

/**
 * Returns the response in progress. Node removes the socket from a complete response. After a refusal
 * the connection has ended, and a response that was not sent before it never is.
 */
export function pendingResponse(socket: Socket): ServerResponse | undefined {
  const response = getLastResponse(socket);
  return response?.socket == null || socket.writableEnded ? undefined : response;
}
