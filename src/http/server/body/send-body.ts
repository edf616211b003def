// Sends a body from a stream with backpressure, over Node's HTTP server or directly to a connection.
import type { Writable } from "node:stream";
import { clearTimeout, setTimeout } from "node:timers";
import type { ByteSource, HttpResponse } from "../listen.ts";
import type { OpenStreams } from "../listener-state.ts";

/** Where a body is sent. The head of the response leaves with the first chunk, or earlier. */
export interface BodyTarget {
  /** The response or the connection, which reports when it can take more and when it closes. */
  readonly output: Pick<Writable, "on" | "once" | "off" | "destroyed">;
  sendHead(): void;
  /** Returns false if the client must first receive what was written. */
  write(chunk: Uint8Array, onWritten: (() => void) | undefined): boolean;
  /** Whether `end` waits by itself until the client has received a small body. */
  readonly endsSmallBodies: boolean;
  end(): void;
}

export interface SendOptions extends Pick<HttpResponse, "onSent"> {
  readonly streams: OpenStreams;
}

/** The body has a wrong length. The connection is closed, so that the client notices. */
class LengthMismatch extends Error {
  constructor(declared: number | undefined, produced: number) {
    super(`A response declared a body of ${declared} bytes, but its stream produced ${produced}.`);
  }
}

/**
 * With at most this many streams, each prepares its next chunk while the client receives the last
 * one. With more, the chunks would use too much memory.
 */
const maxPreparingStreams = 8;
/**
 * How long the head of a body of known length waits for the first chunk, so that both are one packet:
 * the chunk is read from a disk and arrives soon. A script's stream may begin at any time.
 */
const headMilliseconds = 5;
/** A body up to this size can end without waiting until the client has received it. */
const smallBody = 64 * 1024;

/** Rejects if the body fails or has a wrong length; the caller then closes the connection. */
export async function sendBody(
  body: ByteSource,
  target: BodyTarget,
  { streams, onSent }: SendOptions,
): Promise<void> {
  const { output } = target;
  const chunks = body.chunks()[Symbol.asyncIterator]();
  const declaredBytes = body.length ?? Number.POSITIVE_INFINITY;
  let isGone = false;
  let sent = 0;
  let wake = () => {};
  const onDrain = () => wake();
  const onClose = () => {
    isGone = true;
    wake();
    // The client has disconnected, so an error cannot be reported.
    body.cancel(new Error("The client disconnected.")).catch(() => {});
  };
  // The client may have disconnected before the body was ready.
  if (output.destroyed) onClose();
  else output.on("drain", onDrain).once("close", onClose);
  const waitForDrain = () =>
    new Promise<void>((resolve) => {
      wake = resolve;
      if (isGone) resolve();
    });
  // Send the head without waiting for a slow first chunk.
  const head = setTimeout(() => target.sendHead(), body.length === undefined ? 0 : headMilliseconds);
  streams.outgoing++;
  let next: Promise<IteratorResult<Uint8Array>> | undefined;
  try {
    while (!isGone) {
      const { done, value } = await (next ?? chunks.next());
      next = undefined;
      clearTimeout(head);
      if (isGone || done === true) break;
      const onWritten = body.release === undefined ? undefined : () => body.release!(value);
      // Bytes beyond the declared length would look like the next response to the client.
      if (sent + value.length > declaredBytes) throw new LengthMismatch(body.length, sent + value.length);
      sent += value.length;
      if (target.write(value, onWritten)) continue;
      if (target.endsSmallBodies && sent === declaredBytes && sent <= smallBody) continue;
      if (streams.outgoing <= maxPreparingStreams) {
        next = chunks.next();
        // The promise is awaited above, where a failure is thrown.
        next.catch(() => {});
      }
      await waitForDrain();
    }
    if (isGone) return;
    if (body.length !== undefined && sent < body.length) throw new LengthMismatch(body.length, sent);
    target.end();
  } catch (error) {
    isGone = true;
    throw error;
  } finally {
    clearTimeout(head);
    output.off("drain", onDrain).off("close", onClose);
    streams.outgoing--;
    onSent?.(sent, !isGone);
  }
}
