// The last response of a connection: distinguishes busy connections from idle ones.
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

/** The response that is being served; Node takes the socket from a response that is complete. */
export function pendingResponse(socket: Socket): ServerResponse | undefined {
  const response = getLastResponse(socket);
  return response?.socket == null ? undefined : response;
}
