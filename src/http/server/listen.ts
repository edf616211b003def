// Listens for HTTP, passes each request to a handler as plain data and a byte stream, and writes
// the response with backpressure. Disconnects silent clients, not slow ones.
import { createServer, type ServerResponse } from "node:http";
import { createServer as createAcceptor, type Server as NetServer, type Socket } from "node:net";
import { setImmediate } from "node:timers";
import { createHandshakes, type TlsSource } from "../tls/tls.ts";
import { serveTunnels, type TunnelHandler } from "../tunnel.ts";
import { serveUpgrades, type UpgradeHandler } from "../upgrade.ts";
import { createAcceptPace } from "./accept-pace.ts";
import type { DirectReader } from "./body/zero-copy-body.ts";
import { trackConnections } from "./connections.ts";
import { type TrustedPeers, trustNone } from "./forwarded.ts";
import { pendingResponse } from "./last-response.ts";
import { maxHeaderLines, type PortLimits } from "./limits.ts";
import { createListenerState, type ListenerState, type OpenStreams } from "./listener-state.ts";
import { type NodeInternalsSetting, tlsErrorEvents } from "./node-internals.ts";
import { type RefusalText, refuseMalformed } from "./refusal.ts";
import { createServing } from "./serving.ts";
import { backlog, bindOrChoose, type PortAddress } from "./shared-listener.ts";
import { createShortRequests } from "./short-requests.ts";

export interface HttpRequest {
  readonly method: string;
  /** The target exactly as sent; a URL object would normalize it. */
  readonly target: string;
  /** Alternating names and values, as sent. */
  readonly rawHeaders: readonly string[];
  header(name: string): string | undefined;
  /** The scheme that the client used for this server or a trusted proxy. */
  readonly scheme: "http" | "https";
  /** Returns the client's address, also through trusted proxies; empty after a disconnect. */
  address(): string;
  /** Whether the request has a body. */
  readonly hasBody: boolean;
  /** The stream fails if the client disconnects. A handler that stops reading can still respond. */
  body(): AsyncIterable<Uint8Array>;
  /** Alternative to `body`: returns all bytes if they have already arrived. */
  bufferedBody?(): Uint8Array | undefined;
  /** Alternative to `body`: reads into buffers of the caller. */
  directReader?(): DirectReader;
  /** Returns the number of body bytes read so far. */
  bytesRead(): number;
  /** Calls `listener` once if the client disconnects before the response is written. */
  onDisconnect(listener: () => void): void;
}

export interface HttpResponse {
  readonly status: number;
  readonly statusText?: string | undefined;
  /** Values have one character per byte. */
  readonly headers: Iterable<readonly [string, string]>;
  readonly body: HttpBody;
  /** Called once at the end, with the number of body bytes sent and whether that was all. */
  readonly onSent?: ((bytes: number, isWhole: boolean) => void) | undefined;
}

export type HttpBody = string | Uint8Array | ByteSource | null;

export interface ByteSource {
  /** Number of bytes; sent as Content-Length if known. */
  readonly length: number | undefined;
  chunks(): AsyncIterable<Uint8Array>;
  /** Called after a chunk is written, so that the source can reuse its memory. */
  release?(chunk: Uint8Array): void;
  cancel(reason: unknown): Promise<void>;
}

export type HttpHandler = (request: HttpRequest) => HttpResponse | Promise<HttpResponse>;

/** A port, a Unix socket, or the descriptor of an inherited port. */
export type Address = PortAddress | { readonly path: string } | { readonly fd: number };

export interface HttpListener {
  readonly port: number | undefined;
  /** Accepts no new connections, closes idle ones, and resolves after requests have finished. */
  drain(): Promise<void>;
}

/** A number of connections that several listeners share. */
export interface ConnectionShare {
  /** Counts a connection until the returned function is called; undefined if it is not accepted. */
  begin(): (() => void) | undefined;
}

export interface ListenOptions {
  /** A client that sends nothing for this long during a request is disconnected. */
  readonly silenceMilliseconds?: number;
  /** A client that reads nothing of its response for this long is disconnected. */
  readonly stallMilliseconds?: number;
  /** Idle keep-alive connections are closed after this time; must be longer than in proxies. */
  readonly idleMilliseconds?: number;
  /** Maximum total size of the headers of a request. */
  readonly headerBytes?: number;
  /** Formats the body of a refusal in the front end's format. */
  readonly refusal?: RefusalText;
  /** Certificate and key; if present, the port uses TLS. */
  readonly tls?: TlsSource | undefined;
  /** Proxies whose forwarding headers are trusted. */
  readonly trusted?: TrustedPeers | undefined;
  /** Limits of this process; default: no limits. */
  readonly limits?: PortLimits | undefined;
  /** Connections that this listener shares with others, within `limits`; default: no further limit. */
  readonly share?: ConnectionShare | undefined;
  /** Secret of readiness probes, which are answered without the handler. */
  readonly probe?: string | undefined;
  /** Whether undocumented members of Node are used; default: the setting in `limits`, or "on". */
  readonly nodeInternals?: NodeInternalsSetting | undefined;
  /** Handles requests with an Upgrade header; default: they are handled like other requests. */
  readonly upgrade?: UpgradeHandler | undefined;
  /** Handles CONNECT requests; default: their connections are closed. */
  readonly tunnel?: TunnelHandler | undefined;
  /** Counters of open bodies; default: new counters for this listener. */
  readonly streams?: OpenStreams | undefined;
  /**
   * Which program connects to a Unix socket; default: the supervisor, whose forwarding headers are
   * trusted and which expects status 102. Other peers get plain HTTP; a runtime may omit Host.
   */
  readonly peer?: "supervisor" | "client" | "runtime" | undefined;
  /**
   * Serves short requests without Node's HTTP server, which costs less; default: "node". With
   * "direct when complete", the handler of a short request starts when its body has arrived.
   */
  readonly shortRequests?: "direct" | "direct when complete" | "node" | undefined;
}

/** How long idle connections of clients stay open while the listener ends. */
const graceMilliseconds = 500;

export async function listen(
  handler: HttpHandler,
  address: Address,
  options: ListenOptions = {},
): Promise<HttpListener> {
  const { silenceMilliseconds = 60_000, idleMilliseconds = 65_000, headerBytes = 16_384 } = options;
  const { stallMilliseconds = 120_000, tls, trusted = trustNone, limits } = options;
  const isRuntime = options.peer === "runtime";
  const isInternal = "path" in address && (options.peer ?? "supervisor") === "supervisor";
  const state = createListenerState(options.nodeInternals ?? limits?.nodeInternals, options.streams);
  const serving = createServing(handler, { ...options, isInternal, state });
  const server = createServer(
    {
      // A request may take any time while its body makes progress. Only the head has a deadline:
      // otherwise a client could hold a connection by sending a byte per minute.
      requestTimeout: 0,
      headersTimeout: silenceMilliseconds,
      connectionsCheckingInterval: Math.min(silenceMilliseconds, 30_000),
      keepAliveTimeout: idleMilliseconds,
      noDelay: true,
      maxHeaderSize: headerBytes,
      requireHostHeader: !isRuntime,
    },
    (message, response) => {
      if (isRuntime) omitOwnHeaders(response);
      serving.serve(message, response, "nothing");
    },
  );
  // A client that sends Expect: 100-continue gets 100 when its body is read, not earlier. The
  // runtime does not wait, and would take 100 for the response.
  server.on("checkContinue", (message, response) => {
    if (isRuntime) server.emit("request", message, response);
    else serving.serve(message, response, "100-continue");
  });
  // Other expectations can be ignored (RFC 9110 10.1.1).
  server.on("checkExpectation", (message, response) => serving.serve(message, response, "nothing"));
  if (options.upgrade !== undefined) serveUpgrades(server, options.upgrade, { trusted, limits });
  if (options.tunnel !== undefined) serveTunnels(server, options.tunnel);
  // Node keeps this many lines of a head that has not ended, and silently drops further ones. One line
  // above the limit: a request that has more is refused.
  server.maxHeadersCount = maxHeaderLines + 1;
  refuseMalformed(server, options.refusal);
  server.setTimeout(silenceMilliseconds, (socket) => closeSilent(socket, stallMilliseconds, state));
  const handshakes =
    tls === undefined || isInternal
      ? undefined
      : createHandshakes(tls, { silenceMilliseconds, errorEvents: tlsErrorEvents });
  const { shortRequests = "node" } = options;
  const isDirect = shortRequests !== "node" && !isInternal;
  const serveConnection = isDirect
    ? createShortRequests(handler, {
        ...{ server, serving, trusted, state },
        ...{ headerBytes, idleMilliseconds, stallMilliseconds },
        clients: "path" in address ? "on a socket" : "on a port",
        waitsForBody: shortRequests === "direct when complete",
      })
    : (socket: Socket) => void server.emit("connection", socket);
  const acceptor =
    handshakes === undefined
      ? isDirect
        ? createAcceptor({ noDelay: true }, serveConnection)
        : server
      : createAcceptor({ pauseOnConnect: true, noDelay: true }, (socket) =>
          handshakes.start(socket, (secured) => connections.serveSecured(secured, socket)),
        );
  const connections = trackConnections({
    ...{ acceptor, limits, trusted, serveConnection, share: options.share },
    // No grace period for internal sockets: the supervisor retries requests that were not started.
    graceMilliseconds: isInternal ? 0 : graceMilliseconds,
    pace: "fd" in address ? createAcceptPace() : undefined,
  });
  // At this event, Node starts to enforce the deadline for request heads.
  if (acceptor !== server) server.emit("listening");
  if ("port" in address) await bindOrChoose(address, (bound) => start(acceptor, bound));
  else await start(acceptor, address);
  const bound = acceptor.address();
  return {
    port: bound !== null && typeof bound === "object" ? bound.port : undefined,
    async drain() {
      serving.drain();
      handshakes?.end();
      if (!isInternal && acceptor.listening) acceptor.close();
      await connections.end();
      // An internal socket is closed last: closing it also closes idle connections immediately.
      if (isInternal) acceptor.close();
    },
  };
}

/** The runtime shows all headers of a response to the script, also those that Node adds. */
function omitOwnHeaders(response: ServerResponse): void {
  response.sendDate = false;
  response.removeHeader("connection");
}

async function start(acceptor: NetServer, address: Address): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const listening = () => {
      acceptor.off("error", reject);
      resolve();
    };
    acceptor.once("error", reject);
    if ("fd" in address) acceptor.listen({ fd: address.fd }, backlog, listening);
    else if ("path" in address) acceptor.listen({ path: address.path, exclusive: true, backlog }, listening);
    else acceptor.listen({ host: address.host, port: address.port, backlog }, listening);
  });
}

/** Closes an inactive socket if the client should send or read bytes. */
function closeSilent(socket: Socket, stallMilliseconds: number, state: ListenerState): void {
  const { bytesRead } = socket;
  if (isAwaitingRequest(socket, state)) {
    // If this process was suspended, the timeout precedes bytes that have arrived: read them first.
    setImmediate(() => {
      if (socket.bytesRead === bytesRead && isAwaitingRequest(socket, state)) socket.destroy();
    });
  } else if (socket.writableLength > 0) {
    // The limit for a client that reads nothing is longer than for one that sends nothing.
    if ((socket.timeout ?? 0) >= stallMilliseconds) socket.destroy();
    else socket.setTimeout(stallMilliseconds);
  } else {
    // Node does not repeat the timeout without new bytes: the handler may read the body only later.
    socket.setTimeout(socket.timeout ?? stallMilliseconds);
  }
}

function isAwaitingRequest(socket: Socket, { pausedByReceiver }: ListenerState): boolean {
  const request = pendingResponse(socket)?.req;
  if (request === undefined) return true;
  return !request.complete && request.readableLength === 0 && !pausedByReceiver.has(request);
}
