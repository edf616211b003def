// Listens for HTTP, passes each request to a handler as plain data and a byte stream, and writes
// the response with backpressure. Disconnects silent clients, not slow ones.
import { createServer } from "node:http";
import { createServer as createAcceptor, type Server as NetServer, type Socket } from "node:net";
import { createHandshakes, type TlsSource } from "../tls/tls.ts";
import { trackConnections } from "./connections.ts";
import { type TrustedPeers, trustNone } from "./forwarded.ts";
import { pendingResponse } from "./last-response.ts";
import type { PortLimits } from "./limits.ts";
import { createListenerState, type ListenerState, type OpenStreams } from "./listener-state.ts";
import { type NodeInternalsSetting, tlsErrorEvents } from "./node-internals.ts";
import { type RefusalText, refuseMalformed } from "./refusal.ts";
import { createServing } from "./serving.ts";
import { backlog, bindOrChoose, type PortAddress } from "./shared-listener.ts";
import type { DirectReader } from "./zero-copy-body.ts";

export interface HttpRequest {
  readonly method: string;
  /** As sent: never through a URL object. */
  readonly target: string;
  /** Names and values alternate, as sent. */
  readonly rawHeaders: readonly string[];
  header(name: string): string | undefined;
  /** The client's scheme, to this server or to a trusted proxy. */
  readonly scheme: "http" | "https";
  /** The client's address, also through trusted proxies; empty after it disconnected. */
  address(): string;
  /** Whether the request has a body. */
  readonly hasBody: boolean;
  /** Throws when the client disconnects early. A handler that stops early can still answer. */
  body(): AsyncIterable<Uint8Array>;
  /** Instead of `body`: all bytes, if all have arrived. */
  bufferedBody?(): Uint8Array | undefined;
  /** Instead of `body`: reads into the receiver's buffers. */
  directReader?(): DirectReader;
  /** Bytes of the body that were read so far. */
  bytesRead(): number;
  /** Calls `listener` once if the client disconnects before the response is written. */
  onDisconnect(listener: () => void): void;
}

export interface HttpResponse {
  readonly status: number;
  readonly statusText?: string | undefined;
  /** Values have one character a byte. */
  readonly headers: Iterable<readonly [string, string]>;
  readonly body: HttpBody;
  /** Called once at the end, with the bytes of the body sent and whether that was all. */
  readonly onSent?: ((bytes: number, isWhole: boolean) => void) | undefined;
}

export type HttpBody = string | Uint8Array | ByteSource | null;

export interface ByteSource {
  /** Sent as Content-Length if known. */
  readonly length: number | undefined;
  chunks(): AsyncIterable<Uint8Array>;
  /** Called for a chunk that was written, so that the source can reuse its memory. */
  release?(chunk: Uint8Array): void;
  cancel(reason: unknown): Promise<void>;
}

export type HttpHandler = (request: HttpRequest) => HttpResponse | Promise<HttpResponse>;

/** A port, a Unix socket, or the descriptor of an inherited port. */
export type Address = PortAddress | { readonly path: string } | { readonly fd: number };

export interface HttpListener {
  readonly port: number | undefined;
  /** Lets requests in flight finish, closes idle connections and accepts no new ones on a port. */
  drain(): Promise<void>;
}

export interface ListenOptions {
  /** A client that sends nothing for this long while a request or body is due is disconnected. */
  readonly silenceMilliseconds?: number;
  /** A client that reads nothing of its response for this long is disconnected. */
  readonly stallMilliseconds?: number;
  /** An idle keep-alive connection is closed after this time, which is longer than proxies use. */
  readonly idleMilliseconds?: number;
  /** Limit for all headers of a request together. */
  readonly headerBytes?: number;
  /** The body of a refusal, in the front end's format. */
  readonly refusal?: RefusalText;
  /** Makes connections to a port use TLS. */
  readonly tls?: TlsSource | undefined;
  /** Proxies whose forwarding headers are trusted. */
  readonly trusted?: TrustedPeers | undefined;
  /** The limits of this process; default: none. */
  readonly limits?: PortLimits | undefined;
  /** A request with this secret asks whether the port is served, and is answered here. */
  readonly probe?: string | undefined;
  /** Whether undocumented members of Node are used; default: the setting in `limits`, or "on". */
  readonly nodeInternals?: NodeInternalsSetting | undefined;
  /** Counts open bodies; default: counters of this listener alone. */
  readonly streams?: OpenStreams | undefined;
}

/** How long an idle connection of a client stays open while the listener ends. */
const graceMilliseconds = 500;

export async function listen(
  handler: HttpHandler,
  address: Address,
  options: ListenOptions = {},
): Promise<HttpListener> {
  const { silenceMilliseconds = 60_000, idleMilliseconds = 65_000, headerBytes = 16_384 } = options;
  const { stallMilliseconds = 120_000, tls, trusted = trustNone, limits } = options;
  const isInternal = "path" in address;
  const state = createListenerState(options.nodeInternals ?? limits?.nodeInternals, options.streams);
  const serving = createServing(handler, { ...options, isInternal, state });
  const server = createServer(
    {
      // A whole request may take as long as its body moves. Only the head has a deadline: otherwise
      // a client could hold a connection by sending a byte a minute.
      requestTimeout: 0,
      headersTimeout: silenceMilliseconds,
      connectionsCheckingInterval: Math.min(silenceMilliseconds, 30_000),
      keepAliveTimeout: idleMilliseconds,
      noDelay: true,
      maxHeaderSize: headerBytes,
    },
    (message, response) => serving.serve(message, response, "nothing"),
  );
  // A client that sends Expect: 100-continue gets 100 when its body is read, not earlier.
  server.on("checkContinue", (message, response) => serving.serve(message, response, "100-continue"));
  // Other expectations may be ignored (RFC 9110 10.1.1), and an empty field expects nothing.
  server.on("checkExpectation", (message, response) => serving.serve(message, response, "nothing"));
  // Node would drop headers beyond a count, and dropped headers are not checked.
  server.maxHeadersCount = 0;
  refuseMalformed(server, options.refusal);
  server.setTimeout(silenceMilliseconds, (socket) => closeSilent(socket, stallMilliseconds, state));
  const handshakes =
    tls === undefined || isInternal
      ? undefined
      : createHandshakes(tls, { silenceMilliseconds, errorEvents: tlsErrorEvents });
  const acceptor =
    handshakes === undefined
      ? server
      : createAcceptor({ pauseOnConnect: true, noDelay: true }, (socket) =>
          handshakes.start(socket, (secured) => connections.serveSecured(secured, socket)),
        );
  const connections = trackConnections(server, {
    ...{ acceptor, limits, trusted },
    // The front sends a request that was not started to another process, so no grace is needed.
    graceMilliseconds: isInternal ? 0 : graceMilliseconds,
  });
  // Node starts to enforce the deadline of heads at this event.
  if (acceptor !== server) server.emit("listening");
  if ("port" in address) await bindOrChoose(address, (bound) => start(acceptor, bound));
  else await start(acceptor, address);
  const bound = acceptor.address();
  return {
    port: bound !== null && typeof bound === "object" ? bound.port : undefined,
    drain() {
      serving.drain();
      handshakes?.end();
      // Not for a path: closing it would close idle connections without grace.
      if (!isInternal && acceptor.listening) acceptor.close();
      return connections.end();
    },
  };
}

async function start(acceptor: NetServer, address: Address): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const listening = () => {
      acceptor.off("error", reject);
      resolve();
    };
    acceptor.once("error", reject);
    if ("fd" in address) acceptor.listen({ fd: address.fd }, backlog, listening);
    else if ("path" in address) acceptor.listen({ path: address.path, exclusive: true }, listening);
    else acceptor.listen({ host: address.host, port: address.port, backlog }, listening);
  });
}

/**
 * Node reports an inactive socket. The client is at fault only if it owes bytes. A process that was
 * not scheduled sees the timeout before the bytes that arrived, so those are read first.
 */
function closeSilent(socket: Socket, stallMilliseconds: number, state: ListenerState): void {
  const { bytesRead } = socket;
  if (isAwaitingRequest(socket, state)) {
    setImmediate(() => {
      if (socket.bytesRead === bytesRead && isAwaitingRequest(socket, state)) socket.destroy();
    });
  } else if (socket.writableLength > 0) {
    // A client may pause reading for longer than sending.
    if ((socket.timeout ?? 0) >= stallMilliseconds) socket.destroy();
    else socket.setTimeout(stallMilliseconds);
  }
}

function isAwaitingRequest(socket: Socket, { pausedByReceiver }: ListenerState): boolean {
  const request = pendingResponse(socket)?.req;
  if (request === undefined) return true;
  return !request.complete && request.readableLength === 0 && !pausedByReceiver.has(request);
}
