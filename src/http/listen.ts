// Listens for HTTP and hands each request to one handler as plain data and a byte stream; writes what comes
// back with backpressure. Bodies may take as long as they move: only a sender that has fallen silent is cut.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { trackConnections } from "./connections.ts";
import { sayContinue } from "./continue.ts";
import { type Door, openDoor } from "./door.ts";
import { type Filler, isHeldBack } from "./filler.ts";
import { everybody, nobody, type TrustedPeers } from "./forwarded.ts";
import { type MalformedWords, tellMalformed } from "./malformed.ts";
import { requestOf } from "./received.ts";
import { createHandshakes, type TlsSource } from "./tls.ts";
import { writeAnswer } from "./write-answer.ts";

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
  arrived?(): Uint8Array | undefined;
  /** The same bytes in buffers that the receiver gives, in place of the above. */
  filler?(): Filler;
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

/** Or nowhere: it serves what other processes hand over. */
export type Address =
  | { readonly host: string; readonly port: number }
  | { readonly path: string }
  | "handed over";

export interface Listening {
  readonly port: number | undefined;
  /** Serves a connection that another process has accepted. */
  accept(socket: Socket): void;
  /** Lets requests under way finish, closes what is idle, and takes no new connections on a port. */
  drain(): Promise<void>;
}

export interface ListenOptions {
  /** A sender that sends nothing for this long, while something is due from it, is cut. */
  readonly silenceMilliseconds?: number;
  /** A connection that is kept and not used for this long is closed: later than proxies in front would. */
  readonly idleMilliseconds?: number;
  /** Of all headers of a request together. */
  readonly headerBytes?: number;
  readonly onMalformed?: MalformedWords;
  /** With it, connections to a port and those that are handed over speak TLS. */
  readonly tls?: TlsSource | undefined;
  /** Proxies whose word on the sender of a request is taken. */
  readonly trusted?: TrustedPeers | undefined;
}

export async function listen(
  handler: HttpHandler,
  address: Address,
  options: ListenOptions = {},
): Promise<Listening> {
  const { silenceMilliseconds = 60_000, idleMilliseconds = 65_000, headerBytes = 16_384 } = options;
  const { tls, trusted = nobody } = options;
  let draining = false;
  const isBehindFront = address !== "handed over" && "path" in address;
  const serve = (message: IncomingMessage, response: ServerResponse, expects: "nothing" | "to be told") => {
    if (draining) response.setHeader("connection", "close");
    // The front learns that the request is with us: from now on it must not go to another process too.
    const isFromFront = isBehindFront && !connections.isHanded(message.socket);
    if (isFromFront) response.writeProcessing();
    const request = requestOf(message, response, isFromFront ? everybody : trusted);
    void answer(handler, request, { message, response, expects });
  };
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
    (message, response) => serve(message, response, "nothing"),
  );
  // Whoever asks first is told to go on when the body is wanted, and not before.
  server.on("checkContinue", (message, response) => serve(message, response, "to be told"));
  // What else is expected may be passed over (RFC 9110 10.1.1), and an empty field expects nothing.
  server.on("checkExpectation", (message, response) => serve(message, response, "nothing"));
  // Their size is bounded; a header that was dropped beyond some count would be one that nobody checks.
  server.maxHeadersCount = 0;
  if (options.onMalformed !== undefined) tellMalformed(server, options.onMalformed);
  const connections = trackConnections(server);
  server.setTimeout(silenceMilliseconds, cutSilent);
  const handshakes = tls === undefined ? undefined : createHandshakes(tls, silenceMilliseconds);
  const accept = (socket: Socket) => {
    if (handshakes === undefined) return connections.accept(socket);
    connections.expect(socket);
    handshakes.shake(socket, (secured) => connections.accept(secured, socket));
  };
  let door: Door | undefined;
  if (tls !== undefined && address !== "handed over" && "port" in address) {
    await start(server, "handed over");
    door = await openDoor(accept, address);
  } else await start(server, address);
  const bound = server.address();
  return {
    port:
      door?.port ?? (bound !== null && typeof bound === "object" ? (bound as AddressInfo).port : undefined),
    accept,
    drain() {
      draining = true;
      door?.close();
      handshakes?.end();
      // On a path nobody connects any more; closing would cut idle connections without grace.
      if (!isBehindFront && server.listening) server.close();
      return connections.end();
    },
  };
}

async function start(server: Server, address: Address): Promise<void> {
  if (address === "handed over") {
    // With this Node begins to look after the times by which heads are due.
    server.emit("listening");
    return;
  }
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen("path" in address ? { path: address.path, exclusive: true } : address, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

/** Node tells of a socket on which nothing moved; only one that owes us a request or a body is at fault. */
function cutSilent(socket: Socket): void {
  const { _httpMessage: response } = socket as Socket & { _httpMessage?: ServerResponse | null };
  const request = response?.req;
  const owes =
    request === undefined || (!request.complete && request.readableLength === 0 && !isHeldBack(request));
  if (owes) socket.destroy();
}

interface Exchange {
  readonly message: IncomingMessage;
  readonly response: ServerResponse;
  readonly expects: "nothing" | "to be told";
}

async function answer(
  handler: HttpHandler,
  request: HttpRequest,
  { message, response, expects }: Exchange,
): Promise<void> {
  try {
    if (expects === "nothing") return await writeAnswer(await handler(request), message, response);
    let isTold = false;
    const tell = () => {
      if (!isTold) sayContinue(response);
      isTold = true;
    };
    const body = () => {
      tell();
      return request.body();
    };
    const filler = () => {
      tell();
      return request.filler!();
    };
    const answered = await handler({ ...request, body, filler, arrived: () => undefined });
    // A body that was never wanted may still come, or not: nothing else can follow on this connection.
    if (!isTold) response.setHeader("connection", "close");
    await writeAnswer(answered, message, response);
  } catch (error) {
    // The handler answers its own faults: what arrives here is a response that broke off under way.
    response.destroy(error instanceof Error ? error : undefined);
  }
}
