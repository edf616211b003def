// The body of a request written into buffers that its receiver gives: for large bodies, where a promise and a buffer
// for every chunk of Node's would cost as much as moving the bytes.
import type { IncomingMessage } from "node:http";
import { finished } from "node:stream";
import { openStreams } from "./open-streams.ts";
import { readStraight } from "./socket-reader.ts";

export interface Filler {
  /** Answers how many bytes it wrote; fewer than there was room for only at the end of the body. */
  fill(into: Buffer): Promise<number>;
  /** Called once, at the end or before: nobody wants more. */
  leave(): void;
}

interface Wanted {
  readonly into: Buffer;
  filled: number;
  resolve(count: number): void;
  reject(error: unknown): void;
}

/** Messages of which nobody wants more at present. */
const held = new WeakSet<IncomingMessage>();

/** Whether it is not the sender's fault that nothing comes. */
export function isHeldBack(message: IncomingMessage): boolean {
  return held.has(message);
}

export function createFiller(message: IncomingMessage, onBytes: (count: number) => void): Filler {
  let wanted: Wanted | undefined;
  /** What found no room of a chunk. */
  let left: Uint8Array | undefined;
  let end: { readonly error: unknown } | undefined;
  let unread = lengthOf(message);
  let isPulling = false;
  const straight = unread === undefined ? undefined : readStraight(message);
  openStreams.incoming++;

  function settle(): void {
    const done = wanted;
    wanted = undefined;
    held.add(message);
    message.pause();
    done?.resolve(done.filled);
  }

  function counted(count: number): void {
    onBytes(count);
    if (unread !== undefined) unread -= count;
  }

  function take(bytes: Uint8Array): void {
    left = bytes;
    if (wanted === undefined) return;
    const piece = bytes.subarray(0, wanted.into.length - wanted.filled);
    // Not `set`: into shared memory that is many times slower.
    if (piece.length > 0) wanted.into.fill(piece, wanted.filled, wanted.filled + piece.length);
    wanted.filled += piece.length;
    left = piece.length < bytes.length ? bytes.subarray(piece.length) : undefined;
    if (wanted.filled === wanted.into.length) settle();
  }

  function onData(chunk: Uint8Array): void {
    counted(chunk.length);
    take(chunk);
    if (straight === undefined) return;
    // One chunk told that there is something; the rest is taken past the parser, once that is done with this one.
    straight.hold();
    pullSoon();
  }

  function pullSoon(): void {
    if (!isPulling) setImmediate(pull);
    isPulling = true;
  }

  function pull(): void {
    isPulling = false;
    if (wanted === undefined || end !== undefined) return;
    // What Node has read already comes first.
    if (message.readableLength > 0) return void message.resume();
    const { into, filled } = wanted;
    const most = Math.min(into.length - filled, unread!);
    const count = most === 0 ? 0 : straight!.read(into.subarray(filled, filled + most));
    wanted.filled += count;
    counted(count);
    if (wanted.filled === into.length || unread === 0) settle();
    else {
      message.resume();
      straight!.goOn();
    }
  }

  function tellEnd({ error }: { readonly error: unknown }): void {
    if (error === undefined || error === null) settle();
    else wanted?.reject(error);
    wanted = undefined;
  }

  const forget = finished(message, { writable: false }, (error) => {
    end = { error };
    if (wanted !== undefined) tellEnd(end);
  });
  message.pause();
  message.on("data", onData);

  return {
    fill(into) {
      return new Promise((resolve, reject) => {
        held.delete(message);
        wanted = { into, filled: 0, resolve, reject };
        if (left !== undefined) take(left);
        if (wanted === undefined) return;
        if (unread === 0) settle();
        else if (end !== undefined) tellEnd(end);
        else if (straight === undefined || message.readableLength > 0) message.resume();
        else pullSoon();
      });
    },
    leave() {
      message.off("data", onData);
      forget();
      held.delete(message);
      wanted = undefined;
      left = undefined;
      openStreams.incoming--;
      message.resume();
      straight?.end();
    },
  };
}

function lengthOf({ headers }: IncomingMessage): number | undefined {
  const text = headers["content-length"];
  return text === undefined || headers["transfer-encoding"] !== undefined ? undefined : Number(text);
}
