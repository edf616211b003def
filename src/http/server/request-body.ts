// The body of a request as its bytes come, with no more of them in memory than are looked at.
import type { IncomingMessage } from "node:http";
import { openStreams } from "./open-streams.ts";

/** Among few that are being read, what Node fetches ahead is time gained. */
const crowd = 32;

/**
 * All of a body whose length was told, when it has come with its head, as small ones do. That it has ended Node
 * tells after the handler has gone on, so it is the length that says so.
 */
export function arrivedBytes(
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
export async function* bytesOf(
  message: IncomingMessage,
  onBytes: (count: number) => void,
): AsyncIterable<Uint8Array> {
  const asking = ++openStreams.incoming > crowd ? askLate(message) : undefined;
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
      asking?.goOn();
    }
  } finally {
    openStreams.incoming--;
    asking?.end();
    message.resume();
  }
}

/**
 * Node fetches the next chunk while one is in use: for a thousand senders that is as much memory again. Theirs
 * wait in the system instead, until the one before is done with.
 */
function askLate(message: IncomingMessage): { goOn(): void; end(): void } {
  const ask = message._read;
  let isAsked = false;
  let isFirst = true;
  message._read = (size) => {
    // The first tells Node that somebody reads: else it throws the body away once the answer is out.
    if (isFirst || message.readableLength === 0) ask.call(message, size);
    else isAsked = true;
    isFirst = false;
  };
  const goOn = () => {
    if (isAsked) ask.call(message, message.readableHighWaterMark);
    isAsked = false;
  };
  const end = () => {
    message._read = ask;
    goOn();
  };
  return { goOn, end };
}
