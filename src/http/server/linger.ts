// Ends a connection whose request was answered before its body had come. Closed at once, the client would be cut off
// while it still sends, and might never read its answer (RFC 9112 9.6): so the rest is read and dropped for a while.
import type { IncomingMessage, ServerResponse } from "node:http";

const maxBytes = 16 * 1024 * 1024;
const maxMilliseconds = 2000;

/** Whether the connection closes after this response, while more of the request is to come. */
export function mustLinger(message: IncomingMessage, response: ServerResponse): boolean {
  // The listener's own header closes the connection of a client whose body was never asked for.
  if (response.shouldKeepAlive || response.hasHeader("connection")) return false;
  return !message.complete && !message.destroyed;
}

/** Resolves when the request has ended, or enough of it was dropped. */
export function dropRest(message: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    let remaining = maxBytes;
    const timer = setTimeout(done, maxMilliseconds).unref();
    function done(): void {
      clearTimeout(timer);
      message.off("data", count);
      message.off("end", done);
      message.off("close", done);
      resolve();
    }
    function count({ length }: Uint8Array): void {
      remaining -= length;
      if (remaining < 0) done();
    }
    message.on("data", count);
    message.once("end", done);
    message.once("close", done);
    message.resume();
  });
}
