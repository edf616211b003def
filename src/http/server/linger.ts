// Closes a connection whose request was answered before its body arrived. The body is discarded until
// the client closes its side: a reset would keep it from reading the response (RFC 9112 9.6).
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { clearInterval, setInterval } from "node:timers";

/** A client that sends nothing for this long has read the response. */
const silenceMilliseconds = 5000;
const maxMilliseconds = 30_000;

/** Call before a response is ended. Has no effect if the connection stays open after it. */
export function lingerAfter({ req: message }: ServerResponse): void {
  if (message.complete || message.destroyed) return;
  const { socket } = message;
  const close = socket.destroySoon.bind(socket);
  // Node calls this method when it has written the last response of a connection.
  socket.destroySoon = () => {
    if (message.complete || message.destroyed) close();
    else linger(message, socket, close);
  };
  message.once("end", () => {
    socket.destroySoon = close;
  });
}

/** Whether the connection only waits for its client to close it. */
export function isLingering({ writableEnded, destroyed }: Socket): boolean {
  return writableEnded && !destroyed;
}

function linger(message: IncomingMessage, socket: Socket, close: () => void): void {
  let { bytesRead } = socket;
  let remaining = maxMilliseconds / silenceMilliseconds;
  const timer = setInterval(() => {
    if (socket.writableLength > 0) return;
    if (socket.bytesRead === bytesRead || --remaining === 0) socket.destroy();
    bytesRead = socket.bytesRead;
  }, silenceMilliseconds).unref();
  socket.once("close", () => clearInterval(timer));
  message.once("end", close);
  message.resume();
  socket.end();
}
