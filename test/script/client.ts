// An HTTP client that hides nothing: whole answers, headers as they came, bodies from anything, and bare
// sockets for what no client would send.
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
  /** A connection of its own unless given. */
  readonly agent?: Agent;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Names and values in turn, as they came. */
  readonly rawHeaders: readonly string[];
  readonly bytes: Buffer;
  readonly text: string;
}

/** No server under test keeps a client waiting longer than this. */
const patience = 30_000;

export async function ask(port: number, asked: Asked): Promise<Answer> {
  const incoming = await open(port, asked);
  const pieces: Buffer[] = [];
  for await (const piece of incoming) pieces.push(piece as Buffer);
  const bytes = Buffer.concat(pieces);
  const { headers, rawHeaders } = incoming;
  return { status: incoming.statusCode!, headers, rawHeaders, bytes, text: bytes.toString() };
}

/** The answer's head, with its body to be read or left. */
export async function open(port: number, asked: Asked): Promise<IncomingMessage> {
  const { path = "/", method = "GET", headers = {}, body, agent } = asked;
  const outgoing = request({ host: "127.0.0.1", port, path, method, headers, agent: agent ?? false });
  outgoing.setTimeout(patience, () =>
    outgoing.destroy(new Error(`Nothing moved for ${patience} ms: ${method} ${path}`)),
  );
  const response = once(outgoing, "response") as Promise<[IncomingMessage]>;
  if (body === undefined || typeof body === "string" || body instanceof Uint8Array) outgoing.end(body);
  // A server may answer before it has read all, and what is left of the body then does not matter.
  else pipeline(Readable.from(body, { objectMode: false }), outgoing).catch(() => {});
  const [incoming] = await response;
  return incoming;
}

/** A connection on which these lines were sent. */
export async function converse(port: number, ...lines: string[]): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  socket.write(lines.map((line) => `${line}\r\n`).join(""), "latin1");
  return socket;
}

/** All that comes until the other side ends it. */
export async function restOf(socket: Socket): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of socket) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString("latin1");
}
