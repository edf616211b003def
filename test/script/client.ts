// An HTTP client that returns complete responses with raw headers, and plain sockets for requests
// that no HTTP client would send.
import { once } from "node:events";
import { type Agent, type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";
import { connect, type Socket } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

export interface Asked {
  readonly path?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | AsyncIterable<Uint8Array>;
  /** Agent that holds the connection; default: a new connection for this request. */
  readonly agent?: Agent;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Header names and values in alternation, as received. */
  readonly rawHeaders: readonly string[];
  readonly bytes: Buffer;
  readonly text: string;
}

/** Timeout of a request without any progress, in milliseconds. */
const patience = 30_000;

export async function ask(port: number, asked: Asked): Promise<Answer> {
  const incoming = await open(port, asked);
  const pieces: Buffer[] = [];
  for await (const piece of incoming) pieces.push(piece as Buffer);
  const bytes = Buffer.concat(pieces);
  const { headers, rawHeaders } = incoming;
  return { status: incoming.statusCode!, headers, rawHeaders, bytes, text: bytes.toString() };
}

/** Resolves with the head of the response; the caller may read the body or not. */
export async function open(port: number, asked: Asked): Promise<IncomingMessage> {
  const { path = "/", method = "GET", headers = {}, body, agent } = asked;
  const outgoing = request({ host: "127.0.0.1", port, path, method, headers, agent: agent ?? false });
  outgoing.setTimeout(patience, () =>
    outgoing.destroy(new Error(`No progress for ${patience} ms: ${method} ${path}`)),
  );
  const response = once(outgoing, "response") as Promise<[IncomingMessage]>;
  if (body === undefined || typeof body === "string" || body instanceof Uint8Array) outgoing.end(body);
  // A server may answer before it has read the whole body, so errors of sending are ignored.
  else pipeline(Readable.from(body, { objectMode: false }), outgoing).catch(() => {});
  const [incoming] = await response;
  return incoming;
}

/** Opens a connection, sends `lines` and returns the socket. */
export async function converse(port: number, ...lines: string[]): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  socket.write(lines.map((line) => `${line}\r\n`).join(""), "latin1");
  return socket;
}

/** Returns everything received until the server closes the connection. */
export async function restOf(socket: Socket): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of socket) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString("latin1");
}
