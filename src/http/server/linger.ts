// Closes a connection whose request was answered before its body arrived. The rest is discarded for
// a while: a client that is still sending might never read the response (RFC 9112 9.6).
import type { IncomingMessage, ServerResponse } from "node:http";

const maxBytes = 16 * 1024 * 1024;
const maxMilliseconds = 2000;

/** Whether the connection closes after this response while the request is incomplete. */
export function mustLinger(message: IncomingMessage, response: ServerResponse): boolean {
  // The listener's own header is for a client that was not asked for its body.
  if (response.shouldKeepAlive || response.hasHeader("connection")) return false;
  return !message.complete && !message.destroyed;
}

/** Resolves when the request has ended, or after a limit of bytes or time. */
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
