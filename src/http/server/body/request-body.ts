// Reads the body of a request as its bytes arrive, with few bytes in memory.
import type { IncomingMessage } from "node:http";
import type { ListenerState } from "../listener-state.ts";

/** With more concurrent bodies, Node is kept from reading a chunk ahead, to save memory. */
const highConcurrency = 32;

/**
 * Returns the whole body if it arrived with the head, as small bodies do. Compares Content-Length,
 * because Node reports the end of the body only after the handler has run.
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

/** Yields the body. Never destroys Node's stream, which would prevent a response. */
export async function* readBody(
  message: IncomingMessage,
  onBytes: (count: number) => void,
  { streams, internals }: ListenerState,
): AsyncIterable<Uint8Array> {
  const throttle = ++streams.incoming > highConcurrency ? internals.throttle(message) : undefined;
  try {
    // A small body has often arrived completely: read it without waiting.
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
