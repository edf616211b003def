// Undocumented members of Node's objects, which otherwise only shared-listener.ts uses. If one is
// missing at startup or the setting is "off", plain Node streams are used, with more memory.
import { Buffer } from "node:buffer";
import { readSync } from "node:fs";
import { createServer, IncomingMessage, ServerResponse } from "node:http";
import * as net from "node:net";
import { setImmediate } from "node:timers";
import type { TLSSocket } from "node:tls";
import { maxShortBody } from "../wire/read-short-requests.ts";

export type NodeInternalsSetting = "on" | "off";

export interface NodeInternals {
  /** Returns undefined if the connection can be read only through Node's stream, as with TLS. */
  createSocketReader(message: IncomingMessage): SocketReader | undefined;
  /** Stops reading a connection, even if Node's HTTP server resumes its stream. */
  stopReading(socket: net.Socket): void;
  startReading(socket: net.Socket): void;
  /** Skips the requests in what was read of a connection that is destroyed. */
  skipRequests(socket: net.Socket): void;
  /** Returns undefined if Node cannot be kept from reading a chunk ahead. */
  throttle(message: IncomingMessage): ReadThrottle | undefined;
  /**
   * Passes received bytes to `onBytes`, in shared memory that is valid only during the call. Returns a
   * function that passes later bytes to Node's stream; undefined if only the stream works, as with TLS.
   */
  shareReads(socket: net.Socket, onBytes: (bytes: Buffer) => void): (() => void) | undefined;
  /** Ends a response with a Content-Length. `text` is the body, with one character per byte. */
  endInOneWrite(response: ServerResponse, text: string): void;
}

/** Reads a body into the caller's memory, without the copy that Node's parser makes. */
export interface SocketReader {
  /**
   * Reads the bytes that have arrived, as many as fit; returns 0 if there are none. Call it only
   * when Node's buffer is empty, and never in an event of Node's stream, while the parser runs.
   */
  read(into: Buffer): number;
  /** Keeps Node from reading the connection until `resume`. */
  pause(): void;
  resume(): void;
  /** Lets Node read the connection again. */
  close(): void;
}

/** Keeps Node from reading the next chunk while a chunk is in use. */
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
  /** Makes Node read into this memory instead of allocating 64 KiB for each read. */
  useUserBuffer?(memory: Buffer): unknown;
}

interface Parser {
  readonly incoming?: unknown;
  execute(bytes: Uint8Array): unknown;
  readonly constructor: { readonly kOnBody?: unknown; readonly kOnHeadersComplete?: unknown };
  /** Callbacks, by number. */
  [callback: number]: unknown;
}

interface ResponseMembers {
  _header?: unknown;
  readonly _headerSent?: unknown;
}

type Socket = net.Socket & SocketMembers;

/** Objects to probe, as the HTTP server creates them. */
export interface ProbedObjects {
  readonly socket: object;
  readonly message: object;
  readonly response: object;
}

export interface ProbeResult {
  /** Whether the parser accepts bytes that Node did not read itself. */
  readonly parser: boolean;
  /** Whether reading can be stopped at the socket handle, below the stream. */
  readonly handle: boolean;
  /** Whether the method by which the stream of a request reads can be replaced. */
  readonly read: boolean;
  /** Whether the head of a response is a string until it is sent. */
  readonly head: boolean;
  /** The members by which a socket reads into memory of its user, as with the option `onread`. */
  readonly onread: OnreadMembers | undefined;
}

interface OnreadMembers {
  readonly buffer: symbol;
  readonly callback: symbol;
}

export function probeInternals({ socket, message, response }: ProbedObjects): ProbeResult {
  const read = typeof (message as Partial<IncomingMessage>)._read === "function";
  const handle = "_handle" in socket && typeof (socket as SocketMembers)._paused === "boolean";
  return {
    read,
    handle,
    parser: read && handle && isFeedable((socket as SocketMembers).parser),
    head: "_header" in response && (response as ResponseMembers)._headerSent === false,
    onread: findOnreadMembers(socket),
  };
}

function findOnreadMembers(socket: object): OnreadMembers | undefined {
  const find = (name: string) =>
    Object.getOwnPropertySymbols(socket).find(({ description }) => description === name);
  const [buffer, callback] = [find("kBuffer"), find("kBufferCb")];
  return buffer === undefined || callback === undefined ? undefined : { buffer, callback };
}

function isFeedable(parser: Parser | null | undefined): parser is Parser {
  const onBody = parser?.constructor?.kOnBody;
  return (
    typeof parser?.execute === "function" &&
    typeof onBody === "number" &&
    typeof parser[onBody] === "function"
  );
}

/** Probes this Node. Its HTTP server attaches a parser even to an unconnected socket. */
export function probeThisNode(): ProbeResult {
  const socket = new net.Socket();
  createServer().emit("connection", socket);
  const message = new IncomingMessage(socket);
  const result = probeInternals({ socket, message, response: new ServerResponse(message) });
  socket.destroy();
  return result;
}

const nothing: ProbeResult = { parser: false, handle: false, read: false, head: false, onread: undefined };

export function openNodeInternals(setting: NodeInternalsSetting): NodeInternals {
  const found = setting === "on" ? probeThisNode() : nothing;
  return {
    createSocketReader: (message) => (found.parser ? createSocketReader(message) : undefined),
    stopReading: found.handle ? stopHandle : (socket) => socket.pause(),
    startReading: found.handle ? startHandle : (socket) => socket.resume(),
    skipRequests: found.parser ? skipRequests : () => {},
    throttle: (message) => (found.read ? throttle(message) : undefined),
    shareReads: (socket, onBytes) => found.onread && shareReads(socket, found.onread, onBytes),
    endInOneWrite: found.head ? endInOneWrite : (response, text) => response.end(text, "latin1"),
  };
}

/** Fits a short request. A longer one keeps a copy of what was read, so more would cost memory. */
const sharedMemory = Buffer.allocUnsafeSlow(maxShortBody + 4 * 1024);

function shareReads(
  socket: Socket,
  { buffer, callback }: OnreadMembers,
  onBytes: (bytes: Buffer) => void,
): (() => void) | undefined {
  const members = socket as unknown as Record<symbol, unknown>;
  const handle = socket._handle;
  const isReadable = (socket as Partial<TLSSocket>).encrypted !== true && socket.readableLength === 0;
  if (!isReadable || typeof handle?.useUserBuffer !== "function") return undefined;
  members[buffer] = sharedMemory;
  members[callback] = (count: number) => onBytes(sharedMemory.subarray(0, count));
  handle.useUserBuffer(sharedMemory);
  return () => {
    // As Node does without shared memory: `push` returns whether to continue reading.
    members[callback] = (count: number) => socket.push(Buffer.from(sharedMemory.subarray(0, count)));
  };
}

/** Stops reading at the handle: Node may undo `pause` of the stream in the same tick. */
function stopHandle({ _handle: handle }: Socket): void {
  if (handle == null || handle.reading === false) return;
  handle.reading = false;
  handle.readStop();
}

function startHandle({ _handle: handle, _paused: isPaused }: Socket): void {
  // If Node has paused the socket until output drains, Node itself resumes it.
  if (handle == null || handle.reading === true || isPaused === true) return;
  handle.reading = true;
  handle.readStart();
}

/** The result of the callback for a head by which Node's parser leaves the rest to another protocol. */
const leaveRest = () => 2;

function skipRequests({ parser }: Socket): void {
  const onHead = parser?.constructor.kOnHeadersComplete;
  if (parser == null || typeof onHead !== "number" || parser[onHead] === leaveRest) return;
  const callback = parser[onHead];
  parser[onHead] = leaveRest;
  // Node uses the parser for another connection when this one has closed, which is later.
  setImmediate(() => {
    parser[onHead] = callback;
  });
}

function createSocketReader(message: IncomingMessage): SocketReader | undefined {
  const socket = message.socket as Socket;
  const { parser } = socket;
  if ((socket as Partial<TLSSocket>).encrypted === true || !isFeedable(parser)) return undefined;
  const handle = socket._handle;
  if (typeof handle?.fd !== "number" || typeof handle.readStop !== "function") return undefined;
  const feedParser = createParserFeed(message, parser);
  const originalRead = message._read;
  message._read = (size) => {
    // The first call marks the body as being read. A second call would make Node read by itself.
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
      // Restart the timeout, because Node has not seen these bytes.
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

/** Without its body callback, the parser only counts the bytes, to find the end of the body. */
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

/** Returns 0 at the end or after an error: Node detects both at its next read. */
function readNow(descriptor: number, into: Buffer): number {
  try {
    return readSync(descriptor, into, 0, into.length, null);
  } catch {
    return 0;
  }
}

function throttle(message: IncomingMessage): ReadThrottle {
  const originalRead = message._read;
  let [isReadPending, isFirst] = [false, true];
  message._read = (size) => {
    // The first call marks the body as being read: otherwise Node discards it after the response.
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

/** Appends the body to the head, which Node keeps as a string until the first write. */
function endInOneWrite(response: ServerResponse & ResponseMembers, text: string): void {
  const isUnsent = typeof response._header === "string" && response._headerSent === false;
  if (!isUnsent || response.chunkedEncoding) {
    response.end(text, "latin1");
    return;
  }
  response._header += text;
  response.end();
}

/** The undocumented event `_tlsError` reports errors during the handshake. */
export const tlsErrorEvents: readonly string[] = ["error", "_tlsError"];
