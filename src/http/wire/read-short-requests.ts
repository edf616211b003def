// Reads short requests from a connection: complete heads in the common form, with bodies that fit into
// memory. At any other request, the connection is handed over to Node's HTTP server for good.
import { Buffer } from "node:buffer";
import type { Socket } from "node:net";
import { setImmediate } from "node:timers";
import { parseRequestHead, type RequestHead } from "./parse-head.ts";

export interface ShortRequestReader {
  readonly maxHeadBytes: number;
  /** Closes a connection that is idle, or that sends nothing of a body, for this long. */
  readonly idleMilliseconds: number;
  /** Closes a connection whose client reads nothing of a response for this long. */
  readonly stallMilliseconds: number;
  /** Whether to wait here for the rest of a short body, which delays the start of the request. */
  readonly waitsForBody: boolean;
  /** Whether a request of this kind can be served here; otherwise the connection is handed over. */
  accepts(head: RequestHead): boolean;
  /** Called for a complete request, before `serve`. If it returns false, the connection is handed over. */
  tryBegin(): boolean;
  /** Calls `start`, which takes a pipelined request, now or in a later turn of the event loop. */
  takeTurn(start: () => void): void;
  /** Writes the response to the connection. The next request is read after it. */
  serve(request: ShortRequest): Promise<AfterResponse>;
  /** `first` are bytes that were read already. */
  handOver(socket: Socket, first: Buffer): void;
  /**
   * Passes all bytes of a connection to `onBytes`, in memory that is valid only during the call.
   * Returns a function that passes later bytes to the socket's stream, or undefined if the connection
   * can be read only through that stream.
   */
  shareReads(socket: Socket, onBytes: (bytes: Buffer) => void): (() => void) | undefined;
}

export interface ShortRequest {
  readonly socket: Socket;
  readonly head: RequestHead;
  /** All bytes of the body. */
  readonly body: Buffer;
  /** Calls `listener` once if the client disconnects before the response is written. */
  onDisconnect(listener: () => void): void;
}

/** What happens to the connection after a response. */
export type AfterResponse = "keep" | "close";

/** Longer bodies are streamed, by Node's HTTP server. Each connection can hold one in memory. */
export const maxShortBody = 32 * 1024;

/** Bytes that wait for the rest of a request are joined when they have come in this many parts. */
const maxParts = 16;

const busy = Symbol("busy");

/** Whether a request of the connection is being received or answered here. */
export function isReadingShort(socket: Socket): boolean {
  return (socket as { [busy]?: boolean })[busy] === true;
}

function setBusy(socket: Socket, value: boolean): void {
  (socket as { [busy]?: boolean })[busy] = value;
}

export function readShortRequests(socket: Socket, options: ShortRequestReader): void {
  const { maxHeadBytes, idleMilliseconds, stallMilliseconds } = options;
  /** Bytes that belong to no request that was started. */
  let parts: Buffer[] = [];
  let size = 0;
  let partial: { readonly head: RequestHead; readonly bodyStart: number; readonly end: number } | undefined;
  let isServing = false;
  let hasEnded = false;
  let hasLeft = false;
  let listeners: (() => void)[] = [];

  const onDisconnect = (listener: () => void): void => {
    if (socket.destroyed) listener();
    else listeners.push(listener);
  };

  function onData(chunk: Buffer): void {
    parts.push(chunk);
    size += chunk.length;
    // A body that arrives byte by byte would take hundreds of bytes of memory for each.
    if (parts.length === maxParts) parts = [Buffer.concat(parts)];
    // One request at a time: the connection is not read while a response is pending.
    if (isServing) socket.pause();
    else if (partial === undefined || size >= partial.end) takeReceived();
  }

  function onSharedBytes(bytes: Buffer): void {
    if (size > 0 || isServing) onData(Buffer.from(bytes));
    else takeNext(bytes, Buffer.from);
  }

  function takeReceived(): void {
    takeNext(parts.length === 1 ? parts[0]! : Buffer.concat(parts), asIs);
  }

  /** `keep` returns bytes that stay valid after this call. */
  function takeNext(bytes: Buffer, keep: (bytes: Buffer) => Buffer): void {
    const next = partial ?? parseNext(bytes);
    if (next === undefined) {
      leave(keep(bytes));
      return;
    }
    const { head, bodyStart, end } = next;
    setBusy(socket, true);
    if (bytes.length < end && !options.waitsForBody) {
      leave(keep(bytes));
      return;
    }
    if (bytes.length < end) {
      parts = [keep(bytes)];
      size = bytes.length;
      partial = next;
      return;
    }
    if (!options.tryBegin()) {
      leave(keep(bytes));
      return;
    }
    partial = undefined;
    parts = bytes.length === end ? [] : [keep(bytes.subarray(end))];
    size = bytes.length - end;
    isServing = true;
    const body = bodyStart === end ? noBytes : keep(bytes.subarray(bodyStart, end));
    options.serve({ socket, head, body, onDisconnect }).then(onServed, fail);
  }

  function parseNext(bytes: Buffer): typeof partial {
    const headEnd = bytes.indexOf("\r\n\r\n");
    if (headEnd === -1 || headEnd + 4 > maxHeadBytes) return undefined;
    const head = parseRequestHead(bytes.toString("latin1", 0, headEnd + 2));
    if (head === undefined || (head.contentLength ?? 0) > maxShortBody || !options.accepts(head)) {
      return undefined;
    }
    const bodyStart = headEnd + 4;
    return { head, bodyStart, end: bodyStart + (head.contentLength ?? 0) };
  }

  function onServed(end: AfterResponse): void {
    listeners = [];
    if (socket.destroyed) return;
    if (end === "close") {
      socket.end();
      // Bytes that the client still sends would otherwise keep the connection open.
      stopReading();
      socket.resume();
      return;
    }
    if (size > 0) options.takeTurn(readOn);
    else readOn();
  }

  function readOn(): void {
    if (socket.destroyed) return;
    isServing = false;
    setBusy(socket, false);
    if (size > 0) takeReceived();
    if (!isServing && !hasLeft && socket.isPaused()) socket.resume();
  }

  /** Handlers handle their own errors: here, writing the response failed. */
  function fail(): void {
    socket.destroy();
  }

  function leave(bytes: Buffer): void {
    hasLeft = true;
    setBusy(socket, false);
    stopReading();
    socket.off("end", onEnd).off("close", onClose).off("timeout", onTimeout).off("error", ignore);
    socket.setTimeout(0);
    if (hasEnded) socket.destroy();
    else options.handOver(socket, bytes);
  }

  /** A client that closes its side does not wait for a response: the socket closes too. */
  function onEnd(): void {
    hasEnded = true;
  }

  function onClose(): void {
    setBusy(socket, false);
    const pending = listeners;
    listeners = [];
    for (const listener of pending) listener();
  }

  function onTimeout(): void {
    if (isServing) {
      if (socket.writableLength === 0) return;
      if ((socket.timeout ?? 0) >= stallMilliseconds) socket.destroy();
      else socket.setTimeout(stallMilliseconds);
      return;
    }
    const { bytesRead } = socket;
    // If this process was suspended, the timeout precedes bytes that have arrived: read them first.
    setImmediate(() => {
      if (!isServing && socket.bytesRead === bytesRead) socket.destroy();
    });
  }

  function stopReading(): void {
    if (stopSharing === undefined) socket.off("data", onData);
    else stopSharing();
  }

  socket.setTimeout(idleMilliseconds);
  socket.on("end", onEnd).on("close", onClose).on("timeout", onTimeout).on("error", ignore);
  const stopSharing = options.shareReads(socket, onSharedBytes);
  if (stopSharing === undefined) socket.on("data", onData);
}

const noBytes = Buffer.alloc(0);

function asIs(bytes: Buffer): Buffer {
  return bytes;
}

/** After an error, the socket closes. */
function ignore(): void {}
