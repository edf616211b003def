// Serves one request of a connection at a time. Node emits all pipelined requests immediately; here
// a request waits for the previous response, and the connection is not read meanwhile.
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { NodeInternals } from "./node-internals.ts";

export interface Pipelining {
  /** Calls `serve` after all earlier responses, for a response that has no socket yet. */
  enqueue(response: ServerResponse, socket: Socket, serve: () => void): void;
}

export function createPipelining(
  maxWaiting: number,
  { stopReading, startReading }: NodeInternals,
): Pipelining {
  const waiting = new Map<Socket, number>();
  /** Connections that have pipelined requests and therefore have listeners. */
  const tracked = new WeakSet<Socket>();
  let totalWaiting = 0;

  /** Stops reading again when Node resumes a connection after a body or drained output. */
  function track(socket: Socket): void {
    tracked.add(socket);
    socket.on("resume", () => {
      if (waiting.has(socket)) stopReading(socket);
    });
    socket.once("close", () => {
      totalWaiting -= waiting.get(socket) ?? 0;
      waiting.delete(socket);
    });
  }

  function onStarted(socket: Socket): void {
    const count = waiting.get(socket);
    if (count === undefined) return;
    totalWaiting--;
    if (count > 1) {
      waiting.set(socket, count - 1);
      return;
    }
    waiting.delete(socket);
    startReading(socket);
  }

  return {
    enqueue(response, socket, serve) {
      if (totalWaiting >= maxWaiting) return void socket.destroy();
      if (!tracked.has(socket)) track(socket);
      waiting.set(socket, (waiting.get(socket) ?? 0) + 1);
      totalWaiting++;
      stopReading(socket);
      response.once("socket", () => {
        onStarted(socket);
        serve();
      });
    },
  };
}
