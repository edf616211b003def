// Serves one request of a connection at a time. Node emits all pipelined requests immediately; here
// a request waits for the previous response, and the connection is not read meanwhile.
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { setImmediate } from "node:timers";
import type { NodeInternals } from "./node-internals.ts";

/** Pipelined requests of one port that start in a turn of the event loop. */
export const maxPipelinedStarts = 32;

export interface Pipelining {
  /**
   * Calls `start` now, or in a later turn of the event loop if many have started in this one: requests
   * that wait for nothing would otherwise be served to the end of all pipelines before any other port is.
   */
  takeTurn(start: () => void): void;
  /** Calls `serve` after all earlier responses, for a response that has no socket yet. */
  enqueue(response: ServerResponse, socket: Socket, serve: () => void): void;
}

export function createPipelining(
  maxWaiting: number,
  { stopReading, startReading, skipRequests }: NodeInternals,
): Pipelining {
  const waiting = new Map<Socket, number>();
  /** Connections that have pipelined requests and therefore have listeners. */
  const tracked = new WeakSet<Socket>();
  let totalWaiting = 0;
  const takeTurn = limitStarts();

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
    takeTurn,
    enqueue(response, socket, serve) {
      if (totalWaiting >= maxWaiting) {
        skipRequests(socket);
        socket.destroy();
        return;
      }
      if (!tracked.has(socket)) track(socket);
      waiting.set(socket, (waiting.get(socket) ?? 0) + 1);
      totalWaiting++;
      stopReading(socket);
      response.once("socket", () =>
        takeTurn(() => {
          onStarted(socket);
          serve();
        }),
      );
    },
  };
}

function limitStarts(): Pipelining["takeTurn"] {
  let started = 0;
  const waiting: (() => void)[] = [];

  function endTurn(): void {
    const next = waiting.splice(0, maxPipelinedStarts);
    started = next.length;
    if (started > 0) setImmediate(endTurn);
    for (const start of next) start();
  }

  return (start) => {
    if (started >= maxPipelinedStarts) return void waiting.push(start);
    if (started++ === 0) setImmediate(endTurn);
    start();
  };
}
