// Delays the close of a connection whose request was answered before its body arrived. Meanwhile,
// the body is discarded: a reset would keep the client from reading the response (RFC 9112 9.6).
import type { IncomingMessage, ServerResponse } from "node:http";

const maxBytes = 16 * 1024 * 1024;
const maxMilliseconds = 2000;

/** Whether the connection closes after this response although the body has not arrived. */
export function mustLinger(message: IncomingMessage, response: ServerResponse): boolean {
  // The listener sets this header if the client waits for 100-continue and sends no body.
  if (response.shouldKeepAlive || response.hasHeader("connection")) return false;
  return !message.complete && !message.destroyed;
}

/** Discards the body. Resolves at its end, or at a limit of bytes or time. */
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
