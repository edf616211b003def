// Serves a handler on a Unix socket, and sends it requests that no runtime would send.
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { Readable } from "node:stream";
import type { TestContext } from "node:test";
import { type HttpHandler, listen } from "../../../src/http/server/listen.ts";
import { temporaryDirectory } from "../stores.ts";

export interface RawRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | AsyncIterable<Uint8Array>;
}

export interface RawResponse {
  readonly status: number;
  readonly statusText: string;
  readonly headers: IncomingMessage["headers"];
  readonly bytes: Buffer;
  readonly text: string;
}

export interface RawClient {
  readonly path: string;
  send(target: string, request?: RawRequest): Promise<RawResponse>;
  /** Opens a connection and writes the text. */
  connect(text: string): Promise<Socket>;
}

export async function serveOnSocket(t: TestContext, handler: HttpHandler): Promise<RawClient> {
  const path = join(await temporaryDirectory(t), "socket");
  const listener = await listen(handler, { path }, { peer: "client" });
  t.after(() => listener.drain());
  return {
    path,
    send: (target, asked) => send(path, target, asked),
    async connect(text) {
      const socket = connect(path);
      await once(socket, "connect");
      socket.write(text, "latin1");
      return socket;
    },
  };
}

async function send(
  socketPath: string,
  target: string,
  { method = "GET", headers = {}, body }: RawRequest = {},
): Promise<RawResponse> {
  const outgoing = request({ socketPath, path: target, method, headers, agent: false });
  const response = once(outgoing, "response") as Promise<[IncomingMessage]>;
  outgoing.on("error", () => {});
  if (body === undefined || body instanceof Uint8Array) outgoing.end(body);
  // As bytes: with a string, Node would send the headers in its encoding too.
  else if (typeof body === "string") outgoing.end(Buffer.from(body));
  // The handler may respond before it has read the whole body, so errors of sending are ignored.
  else
    Readable.from(body)
      .on("error", () => {})
      .pipe(outgoing);
  const [incoming] = await response;
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const bytes = Buffer.concat(chunks);
  const { statusCode, statusMessage } = incoming;
  return {
    status: statusCode!,
    statusText: statusMessage!,
    headers: incoming.headers,
    bytes,
    text: bytes.toString(),
  };
}
