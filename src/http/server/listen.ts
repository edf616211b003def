// Listens for HTTP and hands each request to one handler as plain data and a byte stream; writes what comes
// back with backpressure. Bodies may take as long as they move: only a sender that has fallen silent is cut.
import { createServer } from "node:http";
import { createServer as createAcceptor, type Server as NetServer, type Socket } from "node:net";
import { createHandshakes, type TlsSource } from "../tls/tls.ts";
import { trackConnections } from "./connections.ts";
import { type TrustedPeers, trustNone } from "./forwarded.ts";
import { pendingResponse } from "./last-response.ts";
import type { PortLimits } from "./limits.ts";
import { createListenerState, type ListenerState, type OpenStreams } from "./listener-state.ts";
import type { NodeInternalsSetting } from "./node-internals.ts";
import { type RefusalText, refuseMalformed } from "./refusal.ts";
import { createServing } from "./serving.ts";
import { backlog, bindOrChoose, type PortAddress } from "./shared-listener.ts";
import type { DirectReader } from "./zero-copy-body.ts";

export interface HttpRequest {
  readonly method: string;
  /** As it came: never through a URL object. */
  readonly target: string;
  /** Names and values in turn, as they came. */
  readonly rawHeaders: readonly string[];
  header(name: string): string | undefined;
  /** What the client spoke, to us or to a proxy that is trusted. */
  readonly scheme: "http" | "https";
  /** Where the client is, as far as proxies that are trusted have told; empty when it is gone. */
  address(): string;
  /** Whether a body follows. */
  readonly hasBody: boolean;
  /** The body's bytes; throws when the sender goes away before their end. Who stops early is still answered. */
  body(): AsyncIterable<Uint8Array>;
  /** In the place of `body`: all of the bytes, when they have all come by now. */
  bufferedBody?(): Uint8Array | undefined;
  /** The same bytes in buffers that the receiver gives, in place of the above. */
  directReader?(): DirectReader;
  /** How many of them have been read so far. */
  bytesRead(): number;
  /** Calls once when the client is gone before the response was written. */
  onDisconnect(listener: () => void): void;
}

export interface HttpResponse {
  readonly status: number;
  readonly statusText?: string | undefined;
  /** Values hold one character a byte. */
  readonly headers: Iterable<readonly [string, string]>;
  readonly body: HttpBody;
  /** Calls once when nothing more of it will be sent: with the bytes of the body that were, and whether that was all. */
  readonly onSent?: ((bytes: number, isWhole: boolean) => void) | undefined;
}

export type HttpBody = string | Uint8Array | ByteSource | null;

export interface ByteSource {
  /** Known lengths are announced. */
  readonly length: number | undefined;
  chunks(): AsyncIterable<Uint8Array>;
  /** Calls for a chunk that is out, if the source wants its memory back. */
  release?(chunk: Uint8Array): void;
  cancel(reason: unknown): Promise<void>;
}

export type HttpHandler = (request: HttpRequest) => HttpResponse | Promise<HttpResponse>;

/** A port, the socket of a path, or the descriptor of a port that this process inherited. */
export type Address = PortAddress | { readonly path: string } | { readonly fd: number };

export interface HttpListener {
  readonly port: number | undefined;
  /** Lets requests under way finish, closes what is idle, and takes no new connections on a port. */
  drain(): Promise<void>;
}

export interface ListenOptions {
  /** A sender that sends nothing for this long, while something is due from it, is cut. */
  readonly silenceMilliseconds?: number;
  /** A reader that takes nothing of its response for this long is cut. */
  readonly stallMilliseconds?: number;
  /** A connection that is kept and not used for this long is closed: later than proxies in front would. */
  readonly idleMilliseconds?: number;
  /** Of all headers of a request together. */
  readonly headerBytes?: number;
  /** The body of a refusal, in the front end's own format. */
  readonly refusal?: RefusalText;
  /** With it, connections to a port speak TLS. */
  readonly tls?: TlsSource | undefined;
  /** Proxies whose word on the sender of a request is taken. */
  readonly trusted?: TrustedPeers | undefined;
  /** What this process takes on at a time; without it, nothing is limited. */
  readonly limits?: PortLimits | undefined;
  /** A request that names this secret is answered here: it asks whether the port is served. */
  readonly probe?: string | undefined;
  /** Whether undocumented members of Node are used; default: as the limits say, otherwise "on". */
  readonly nodeInternals?: NodeInternalsSetting | undefined;
  /** Counts the bodies in flight; default: counters of this listener alone. */
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
      // A request as a whole may take as long as its body moves. Only its head has a time by which it is due,
      // without which a client could keep a connection by sending a letter a minute.
      requestTimeout: 0,
      headersTimeout: silenceMilliseconds,
      connectionsCheckingInterval: Math.min(silenceMilliseconds, 30_000),
      keepAliveTimeout: idleMilliseconds,
      noDelay: true,
      maxHeaderSize: headerBytes,
    },
    (message, response) => serving.serve(message, response, "nothing"),
  );
  // A client that asks first is answered 100 when its body is wanted, and not before.
  server.on("checkContinue", (message, response) => serving.serve(message, response, "100-continue"));
  // Other expectations may be ignored (RFC 9110 10.1.1), and an empty field expects nothing.
  server.on("checkExpectation", (message, response) => serving.serve(message, response, "nothing"));
  // Node would drop headers beyond a count, and a dropped header is one that is not checked.
  server.maxHeadersCount = 0;
  refuseMalformed(server, options.refusal);
  server.setTimeout(silenceMilliseconds, (socket) => closeSilent(socket, stallMilliseconds, state));
  const handshakes = tls === undefined || isInternal ? undefined : createHandshakes(tls, silenceMilliseconds);
  const acceptor =
    handshakes === undefined
      ? server
      : createAcceptor({ pauseOnConnect: true, noDelay: true }, (socket) =>
          handshakes.start(socket, (secured) => connections.serveSecured(secured, socket)),
        );
  const connections = trackConnections(server, {
    ...{ acceptor, limits, trusted },
    // Behind a front nothing is lost: it sends to another process what was not taken.
    graceMilliseconds: isInternal ? 0 : graceMilliseconds,
  });
  // With this event Node begins to check the times by which heads are due.
  if (acceptor !== server) server.emit("listening");
  if ("port" in address) await bindOrChoose(address, (bound) => start(acceptor, bound));
  else await start(acceptor, address);
  const bound = acceptor.address();
  return {
    port: bound !== null && typeof bound === "object" ? bound.port : undefined,
    drain() {
      serving.drain();
      handshakes?.end();
      // The front no longer connects to a path; closing it would cut idle connections without grace.
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
 * Node reports a socket on which nothing moved; only a client that owes something is at fault. A process that was not
 * scheduled finds the timer due before it has read what came meanwhile, so that is read first.
 */
function closeSilent(socket: Socket, stallMilliseconds: number, state: ListenerState): void {
  const { bytesRead } = socket;
  if (isAwaitingRequest(socket, state)) {
    setImmediate(() => {
      if (socket.bytesRead === bytesRead && isAwaitingRequest(socket, state)) socket.destroy();
    });
  } else if (socket.writableLength > 0) {
    // A reader may pause for longer than a sender.
    if ((socket.timeout ?? 0) >= stallMilliseconds) socket.destroy();
    else socket.setTimeout(stallMilliseconds);
  }
}

function isAwaitingRequest(socket: Socket, { pausedByReceiver }: ListenerState): boolean {
  const request = pendingResponse(socket)?.req;
  if (request === undefined) return true;
  return !request.complete && request.readableLength === 0 && !pausedByReceiver.has(request);
}
