// The body of a request as its bytes come, with no more of them in memory than are looked at.
import type { IncomingMessage } from "node:http";
import type { ListenerState } from "./listener-state.ts";

/** Among few that are being read, what Node fetches ahead is time gained. */
const highConcurrency = 32;

/**
 * All of a body whose length was told, when it has come with its head, as small ones do. That it has ended Node
 * tells after the handler has gone on, so it is the length that says so.
 */
export function readBufferedBody(
  message: IncomingMessage,
  onBytes: (count: number) => void,
): Uint8Array | undefined {
  const length = message.headers["content-length"];
  if (length === undefined || message.readableLength !== Number(length) || message.destroyed)
    return undefined;
  const bytes: Uint8Array | null = message.read();
  if (bytes === null) return undefined;
  onBytes(bytes.length);
  message.resume();
  return bytes;
}

/** Leaving the stream of Node early would cut the connection, and with it the answer. */
export async function* readBody(
  message: IncomingMessage,
  onBytes: (count: number) => void,
  { streams, internals }: ListenerState,
): AsyncIterable<Uint8Array> {
  const throttle = ++streams.incoming > highConcurrency ? internals.throttle(message) : undefined;
  try {
    // All of a small body is often there by now, and takes no waiting.
    if (message.complete && !message.destroyed) {
      for (let chunk = message.read(); chunk !== null; chunk = message.read()) {
        onBytes((chunk as Uint8Array).length);
        yield chunk as Uint8Array;
      }
      return;
    }
    for await (const chunk of message.iterator({ destroyOnReturn: false })) {
      onBytes((chunk as Uint8Array).length);
      yield chunk as Uint8Array;
      throttle?.resume();
    }
  } finally {
    streams.incoming--;
    throttle?.end();
    message.resume();
  }
}
