// Reads a body from its connection straight into the receiver's memory. Node's parser would first copy every 64 KiB
// into a buffer of its own, for the collector to find. It is told of the bytes all the same, and stays in step.
import { readSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";

export interface SocketReader {
  /**
   * Bytes that have come already, as many as fit; 0 when there are none. Only when all that Node has read before is
   * taken, and never within an event of Node's stream: the parser is at work then.
   */
  read(into: Buffer): number;
  /** Node reads no more by itself, until it is told to go on. */
  pause(): void;
  resume(): void;
  /** Node goes on as if nothing had been. */
  close(): void;
}

/** What Node keeps on a connection, and tells nobody of; where it looks otherwise, nothing is read straight. */
interface SocketInternals {
  readonly _handle?: Handle | null;
  readonly _paused?: boolean;
  readonly parser?: Parser | null;
}

interface Handle {
  readonly fd?: unknown;
  reading?: boolean;
  readStart(): unknown;
  readStop(): unknown;
}

interface Parser {
  readonly incoming?: unknown;
  execute(bytes: Uint8Array): unknown;
  readonly constructor: { readonly kOnBody?: unknown };
  /** What it calls, by number. */
  [callback: number]: unknown;
}

/** Undefined where it cannot be. */
export function createSocketReader(message: IncomingMessage): SocketReader | undefined {
  const socket = message.socket as Socket & SocketInternals;
  const parser = findParser(socket);
  if (parser === undefined) return undefined;
  const feedParser = createParserFeed(message, parser);
  const originalRead = message._read;
  message._read = (size) => {
    // The first tells Node that somebody reads; with more it would go on reading by itself.
    originalRead.call(message, size);
    message._read = () => {};
  };

  function resume(): void {
    const handle = socket._handle;
    if (handle?.reading !== false || socket._paused === true) return;
    handle.reading = true;
    handle.readStart();
  }

  return {
    read(into) {
      const descriptor = socket._handle?.fd;
      const isOurs = socket.parser === parser && parser.incoming === message && socket._paused !== true;
      if (!isOurs || message.destroyed || typeof descriptor !== "number" || descriptor < 0) return 0;
      const bytes = into.subarray(0, readNow(descriptor, into));
      if (bytes.length === 0) return 0;
      feedParser(bytes);
      // Node has not seen them move.
      if (socket.timeout !== undefined && socket.timeout > 0) socket.setTimeout(socket.timeout);
      return bytes.length;
    },
    // Not by pausing the connection's stream: what was resumed in the same turn would go on behind that.
    pause() {
      const handle = socket._handle;
      if (handle?.reading !== true) return;
      handle.reading = false;
      handle.readStop();
    },
    resume,
    close() {
      message._read = originalRead;
      socket.resume();
      resume();
    },
  };
}

/** Of a connection that Node's parser reads by itself. */
function findParser(socket: Socket & SocketInternals): Parser | undefined {
  const { parser, _handle: handle } = socket;
  if ((socket as Partial<TLSSocket>).encrypted === true) return undefined;
  if (typeof handle?.fd !== "number" || typeof handle.readStop !== "function") return undefined;
  const onBody = parser?.constructor.kOnBody;
  if (typeof parser?.execute !== "function" || typeof onBody !== "number") return undefined;
  return typeof parser[onBody] === "function" ? parser : undefined;
}

/** Without anybody to call for them, the parser only counts the bytes. */
function createParserFeed(message: IncomingMessage, parser: Parser): (bytes: Buffer) => void {
  const onBody = parser.constructor.kOnBody as number;
  return (bytes) => {
    const bodyCallback = parser[onBody];
    parser[onBody] = undefined;
    const result = parser.execute(bytes);
    parser[onBody] = bodyCallback;
    if (result instanceof Error) message.destroy(result);
  };
}

/** An end or an error is left for Node to find where it reads next. */
function readNow(descriptor: number, into: Buffer): number {
  try {
    return readSync(descriptor, into, 0, into.length, null);
  } catch {
    return 0;
  }
}
