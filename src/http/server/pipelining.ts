// One request of a connection at a time. Node parses every request of the bytes it has read and announces each at once;
// here a request waits for the response before it, and the connection is not read while requests wait.
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

export interface Pipelining {
  /** Calls `serve` when all earlier requests of the connection are answered; for responses that have no socket yet. */
  enqueue(response: ServerResponse, socket: Socket, serve: () => void): void;
}

export function createPipelining(maxWaiting: number): Pipelining {
  const waiting = new Map<Socket, number>();
  /** Connections that have pipelined before, and have their listeners. */
  const tracked = new WeakSet<Socket>();
  let totalWaiting = 0;

  /** Node resumes a connection by itself when a body was read or output has drained. */
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

/**
 * What Node reads a connection with. Not the stream's pause and resume: Node's HTTP server uses these for its own ends, and
 * a pause within the turn of a resume would be lost.
 */
interface ReadingSocket extends Socket {
  readonly _handle?: { reading?: boolean; readStart(): unknown; readStop(): unknown } | null;
  readonly _paused?: boolean;
}

function stopReading({ _handle: handle }: ReadingSocket): void {
  if (handle == null || handle.reading === false) return;
  handle.reading = false;
  handle.readStop();
}

function startReading({ _handle: handle, _paused: isPaused }: ReadingSocket): void {
  // Node itself waits for output to drain, and starts reading after that.
  if (handle == null || handle.reading === true || isPaused === true) return;
  handle.reading = true;
  handle.readStart();
}
