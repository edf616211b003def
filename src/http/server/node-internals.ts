// The only file that uses undocumented members of Node's objects. They are probed at start; where
// one is missing or the setting is "off", plain Node streams are used, with more copies and memory.
import { readSync } from "node:fs";
import { createServer, IncomingMessage, ServerResponse } from "node:http";
import * as net from "node:net";
import type { TLSSocket } from "node:tls";

export type NodeInternalsSetting = "on" | "off";

export interface NodeInternals {
  /** Undefined where the connection can only be read through Node's stream, as with TLS. */
  createSocketReader(message: IncomingMessage): SocketReader | undefined;
  /** Stops reading a connection, whatever Node's HTTP server does with its stream. */
  stopReading(socket: net.Socket): void;
  startReading(socket: net.Socket): void;
  /** Undefined: Node reads a chunk ahead. */
  throttle(message: IncomingMessage): ReadThrottle | undefined;
  /** Ends a response whose head announces the length of `text`, which has one character a byte. */
  endInOneWrite(response: ServerResponse, text: string): void;
}

/** Reads a body into the receiver's memory. Node's parser would copy every 64 KiB first. */
export interface SocketReader {
  /**
   * Reads bytes that have arrived, as many as fit; 0 when there are none. Call it only when Node's
   * buffer is empty, and never within an event of Node's stream: the parser is running then.
   */
  read(into: Buffer): number;
  /** Node stops reading the connection until `resume`. */
  pause(): void;
  resume(): void;
  /** Returns the connection to Node. */
  close(): void;
}

/** Keeps Node from reading the next chunk while one is in use. */
export interface ReadThrottle {
  resume(): void;
  end(): void;
}

interface SocketMembers {
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
  /** Its callbacks, by number. */
  [callback: number]: unknown;
}

interface ResponseMembers {
  _header?: unknown;
  readonly _headerSent?: unknown;
}

type Socket = net.Socket & SocketMembers;

/** Objects to probe, as the HTTP server makes them. */
export interface ProbedObjects {
  readonly socket: object;
  readonly message: object;
  readonly response: object;
}

export interface ProbeResult {
  /** The parser can be fed with bytes that were read past it. */
  readonly parser: boolean;
  /** Reading can be stopped below the stream. */
  readonly handle: boolean;
  /** The stream of a request reads by a method that can be replaced. */
  readonly read: boolean;
  /** The head of a response is text until it is sent. */
  readonly head: boolean;
}

export function probeInternals({ socket, message, response }: ProbedObjects): ProbeResult {
  const read = typeof (message as Partial<IncomingMessage>)._read === "function";
  const handle = "_handle" in socket && typeof (socket as SocketMembers)._paused === "boolean";
  return {
    read,
    handle,
    parser: read && handle && isFeedable((socket as SocketMembers).parser),
    head: "_header" in response && (response as ResponseMembers)._headerSent === false,
  };
}

function isFeedable(parser: Parser | null | undefined): parser is Parser {
  const onBody = parser?.constructor?.kOnBody;
  return (
    typeof parser?.execute === "function" &&
    typeof onBody === "number" &&
    typeof parser[onBody] === "function"
  );
}

/** A socket without a connection is enough for Node's HTTP server to attach its parser. */
export function probeThisNode(): ProbeResult {
  const socket = new net.Socket();
  createServer().emit("connection", socket);
  const message = new IncomingMessage(socket);
  const result = probeInternals({ socket, message, response: new ServerResponse(message) });
  socket.destroy();
  return result;
}

const nothing: ProbeResult = { parser: false, handle: false, read: false, head: false };

export function openNodeInternals(setting: NodeInternalsSetting): NodeInternals {
  const found = setting === "on" ? probeThisNode() : nothing;
  return {
    createSocketReader: (message) => (found.parser ? createSocketReader(message) : undefined),
    stopReading: found.handle ? stopHandle : (socket) => socket.pause(),
    startReading: found.handle ? startHandle : (socket) => socket.resume(),
    throttle: (message) => (found.read ? throttle(message) : undefined),
    endInOneWrite: found.head ? endInOneWrite : (response, text) => response.end(text, "latin1"),
  };
}

/** The stream's own pause would be undone by a resume of the same turn. */
function stopHandle({ _handle: handle }: Socket): void {
  if (handle == null || handle.reading === false) return;
  handle.reading = false;
  handle.readStop();
}

function startHandle({ _handle: handle, _paused: isPaused }: Socket): void {
  // Paused by Node until output has drained: Node starts reading after that.
  if (handle == null || handle.reading === true || isPaused === true) return;
  handle.reading = true;
  handle.readStart();
}

function createSocketReader(message: IncomingMessage): SocketReader | undefined {
  const socket = message.socket as Socket;
  const { parser } = socket;
  if ((socket as Partial<TLSSocket>).encrypted === true || !isFeedable(parser)) return undefined;
  if (typeof socket._handle?.fd !== "number" || typeof socket._handle.readStop !== "function")
    return undefined;
  const feedParser = createParserFeed(message, parser);
  const originalRead = message._read;
  message._read = (size) => {
    // One call shows Node that the body is read; after a second one Node would read by itself.
    originalRead.call(message, size);
    message._read = () => {};
  };
  return {
    read(into) {
      const descriptor = socket._handle?.fd;
      const isOurs = socket.parser === parser && parser.incoming === message && socket._paused !== true;
      if (!isOurs || message.destroyed || typeof descriptor !== "number" || descriptor < 0) return 0;
      const bytes = into.subarray(0, readNow(descriptor, into));
      if (bytes.length === 0) return 0;
      feedParser(bytes);
      // Restarts the timeout, since Node has not seen these bytes.
      if (socket.timeout !== undefined && socket.timeout > 0) socket.setTimeout(socket.timeout);
      return bytes.length;
    },
    pause: () => stopHandle(socket),
    resume: () => startHandle(socket),
    close() {
      message._read = originalRead;
      socket.resume();
      startHandle(socket);
    },
  };
}

/** Without its body callback the parser only counts the bytes, and so knows where the body ends. */
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

/** Node finds an end or an error itself, where it reads next. */
function readNow(descriptor: number, into: Buffer): number {
  try {
    return readSync(descriptor, into, 0, into.length, null);
  } catch {
    return 0;
  }
}

function throttle(message: IncomingMessage): ReadThrottle {
  const originalRead = message._read;
  let isReadPending = false;
  let isFirst = true;
  message._read = (size) => {
    // The first call shows that the body is read: otherwise Node drops it after the response.
    if (isFirst || message.readableLength === 0) originalRead.call(message, size);
    else isReadPending = true;
    isFirst = false;
  };
  const resume = () => {
    if (isReadPending) originalRead.call(message, message.readableHighWaterMark);
    isReadPending = false;
  };
  const end = () => {
    message._read = originalRead;
    resume();
  };
  return { resume, end };
}

/** Node keeps the head as text until the first write, so the body is appended to it. */
function endInOneWrite(response: ServerResponse & ResponseMembers, text: string): void {
  const isUnsent = typeof response._header === "string" && response._headerSent === false;
  if (!isUnsent || response.chunkedEncoding) {
    response.end(text, "latin1");
    return;
  }
  response._header += text;
  response.end();
}

/** `_tlsError` is undocumented, and reports errors before the handshake is done. */
export const tlsErrorEvents: readonly string[] = ["error", "_tlsError"];

export interface BoundHandle {
  getsockname(out: { port?: number }): number;
  close(): void;
}

/**
 * Binds a port without accepting on it, as node:cluster does; a number is the error of the system.
 * Node documents no other way, so the setting has no effect here. Undefined when this Node cannot.
 */
export function bindWithoutAccepting(
  address: string,
  port: number,
  family: number,
): BoundHandle | number | undefined {
  const { _createServerHandle: createHandle } = net as {
    readonly _createServerHandle?: (...args: unknown[]) => BoundHandle | number;
  };
  return createHandle?.(address, port, family === 6 ? 6 : 4, -1, 0);
}
