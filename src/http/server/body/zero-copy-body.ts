// Reads the body of a request into buffers of the caller. For large bodies, a promise and a buffer
// for each chunk of Node's stream would cost as much as moving the bytes.
import type { Buffer } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { finished } from "node:stream";
import { setImmediate } from "node:timers";
import type { ListenerState } from "../listener-state.ts";
import { release } from "./release-buffer.ts";

export interface DirectReader {
  /** Fills `into` and resolves with the number of bytes; fewer only at the end of the body. */
  readInto(into: Buffer): Promise<number>;
  /** Stops reading. The caller must call it once, at the end of the body or earlier. */
  close(): void;
}

interface PendingRead {
  readonly into: Buffer;
  filled: number;
  resolve(count: number): void;
  reject(error: unknown): void;
}

export function createDirectReader(
  message: IncomingMessage,
  onBytes: (count: number) => void,
  { internals, streams, pausedByReceiver }: ListenerState,
): DirectReader {
  let pending: PendingRead | undefined;
  /** The rest of a chunk that did not fit into the buffer. */
  let leftover: Uint8Array | undefined;
  let end: { readonly error: unknown } | undefined;
  let unread = contentLength(message);
  let isPulling = false;
  const socketReader = unread === undefined ? undefined : internals.createSocketReader(message);
  streams.incoming++;

  function settle(): void {
    const done = pending;
    pending = undefined;
    pausedByReceiver.add(message);
    message.pause();
    done?.resolve(done.filled);
  }

  function countBytes(count: number): void {
    onBytes(count);
    if (unread !== undefined) unread -= count;
  }

  function take(bytes: Uint8Array): void {
    leftover = bytes;
    if (pending === undefined) return;
    const fitting = bytes.subarray(0, pending.into.length - pending.filled);
    // `fill` instead of `set`, which is many times slower for shared memory.
    if (fitting.length > 0) pending.into.fill(fitting, pending.filled, pending.filled + fitting.length);
    pending.filled += fitting.length;
    leftover = fitting.length < bytes.length ? bytes.subarray(fitting.length) : undefined;
    // Chunks of TLS would otherwise make V8 collect all garbage several times during one body.
    if (leftover === undefined) release(bytes);
    if (pending.filled === pending.into.length) settle();
  }

  function onData(chunk: Uint8Array): void {
    countBytes(chunk.length);
    take(chunk);
    if (socketReader === undefined) return;
    // More bytes have arrived. They are read directly from the socket, after this event.
    socketReader.pause();
    pullSoon();
  }

  function pullSoon(): void {
    if (!isPulling) setImmediate(pull);
    isPulling = true;
  }

  function pull(): void {
    isPulling = false;
    if (pending === undefined || end !== undefined) return;
    // First take the bytes that Node has already read.
    if (message.readableLength > 0) return void message.resume();
    const { into, filled } = pending;
    const maxBytes = Math.min(into.length - filled, unread!);
    const count = maxBytes === 0 ? 0 : socketReader!.read(into.subarray(filled, filled + maxBytes));
    pending.filled += count;
    countBytes(count);
    if (pending.filled === into.length || unread === 0) settle();
    else {
      message.resume();
      socketReader!.resume();
    }
  }

  function settleEnd({ error }: { readonly error: unknown }): void {
    if (error === undefined || error === null) settle();
    else pending?.reject(error);
    pending = undefined;
  }

  const stopWatching = finished(message, { writable: false }, (error) => {
    end = { error };
    if (pending !== undefined) settleEnd(end);
  });
  message.pause();
  message.on("data", onData);

  return {
    readInto(into) {
      return new Promise((resolve, reject) => {
        pausedByReceiver.delete(message);
        pending = { into, filled: 0, resolve, reject };
        if (leftover !== undefined) take(leftover);
        if (pending === undefined) return;
        if (unread === 0) settle();
        else if (end !== undefined) settleEnd(end);
        else if (socketReader === undefined || message.readableLength > 0) message.resume();
        else pullSoon();
      });
    },
    close() {
      message.off("data", onData);
      stopWatching();
      pausedByReceiver.delete(message);
      pending = undefined;
      leftover = undefined;
      streams.incoming--;
      message.resume();
      socketReader?.close();
    },
  };
}

function contentLength({ headers }: IncomingMessage): number | undefined {
  const text = headers["content-length"];
  return text === undefined || headers["transfer-encoding"] !== undefined ? undefined : Number(text);
}
