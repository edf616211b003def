// Webhook receivers that answer in ways that no honest server does, until they turn good.
import { createServer, type Socket } from "node:net";
import type { TestContext } from "node:test";
import { gzipSync } from "node:zlib";

type Misbehave = (socket: Socket) => void;

export interface HostileReceiver {
  readonly kind: string;
  readonly url: string;
  /** Keys of the events of accepted messages, in the order of their arrival. */
  readonly keys: readonly string[];
  /** Number of connections so far. */
  connections(): number;
  /** Closes all connections and accepts further messages. */
  turnGood(): void;
}

/** Part of every receiver's URL, which no log may contain. */
export const urlToken = "token-of-the-url";

const MiB = 2 ** 20;
const head = (status: string, ...lines: string[]) =>
  `HTTP/1.1 ${status}\r\n${lines.map((line) => `${line}\r\n`).join("")}\r\n`;

/** Writes as fast as the peer reads, without end. */
function pour(socket: Socket, chunk: string | Uint8Array): void {
  const write = () => {
    while (!socket.destroyed && socket.write(chunk));
  };
  socket.on("drain", write);
  write();
}

function drip(socket: Socket, text: string): void {
  const timer = setInterval(() => socket.write(text), 50);
  socket.once("close", () => clearInterval(timer));
}

/** The only kind that does not wait for the first bytes. */
const earlyAnswer = "an answer before the request";
const line = `x-${"y".repeat(1000)}: z\r\n`;
const zeros = gzipSync(Buffer.alloc(16 * MiB));

/** What a receiver does when the first bytes of a request have arrived, by name. */
export function misbehaviours(witness: number): Readonly<Record<string, Misbehave>> {
  const redirect = (status: number, location: string) => (socket: Socket) =>
    socket.end(head(`${status} Moved`, `location: ${location}`, "content-length: 0"));
  return {
    "redirects to loopback": redirect(302, `http://127.0.0.1:${witness}/`),
    "redirects to loopback by 307": redirect(307, `http://localhost:${witness}/`),
    "redirects by 308 and a refresh": (socket) =>
      socket.end(
        head("308 Moved", `location: //127.0.0.1:${witness}`, `refresh: 0;url=http://127.0.0.1:${witness}/`),
      ),
    "redirects to the metadata service": redirect(301, "http://169.254.169.254/latest/meta-data/"),
    "endless headers": (socket) => {
      socket.write("HTTP/1.1 200 OK\r\n");
      pour(socket, line.repeat(64));
    },
    "a header of 10 MB": (socket) => socket.end(head("200 OK", `x: ${"y".repeat(10 * MiB)}`)),
    "a reason of 10 MB": (socket) => socket.end(head(`200 ${"y".repeat(10 * MiB)}`)),
    "dripping headers": (socket) => {
      socket.write("HTTP/1.1 200 OK\r\n");
      drip(socket, "x: y\r\n");
    },
    "an endless body": (socket) => {
      socket.write(head("500 Error"));
      pour(socket, "x".repeat(65_536));
    },
    "a dripping body": (socket) => {
      socket.write(head("500 Error", "content-length: 1000000000000"));
      drip(socket, "x");
    },
    "endless chunks": (socket) => {
      socket.write(head("500 Error", "transfer-encoding: chunked"));
      pour(socket, "1\r\nx\r\n".repeat(10_000));
    },
    "endless trailers": (socket) => {
      socket.write(`${head("500 Error", "transfer-encoding: chunked")}0\r\n`);
      pour(socket, line.repeat(64));
    },
    "a chunk extension without end": (socket) => {
      socket.write(`${head("500 Error", "transfer-encoding: chunked")}1;`);
      pour(socket, "x".repeat(65_536));
    },
    "a gzip bomb": (socket) => {
      socket.write(head("500 Error", "content-encoding: gzip"));
      pour(socket, zeros);
    },
    "a reset in the middle of the request": (socket) => socket.resetAndDestroy(),
    "an end without an answer": (socket) => socket.end(),
    "101 and then bytes without end": (socket) => {
      socket.write(head("101 Switching Protocols", "connection: upgrade", "upgrade: websocket"));
      pour(socket, "x".repeat(65_536));
    },
    "100 without end": (socket) => pour(socket, head("100 Continue").repeat(1000)),
    "103 without end": (socket) => pour(socket, head("103 Early Hints", "link: </x>").repeat(1000)),
    "no answer": () => {},
    "a request that is not read": (socket) => socket.pause(),
    "another protocol": (socket) => socket.write("SSH-2.0-OpenSSH_9.2\r\n"),
    "a lie about its length": (socket) =>
      socket.end(head("500 Error", "content-length: 5\r\ncontent-length: 6")),
    "terminal codes as a reason": (socket) =>
      socket.end(head("503 \x1b[31m\x1b]0;owned\x07\x9b2J", "retry-after: 99999999999999999999")),
    "two answers to one request": (socket) =>
      socket.write(`${head("500 A", "content-length: 0")}${head("500 B", "content-length: 0")}`.repeat(100)),
    [earlyAnswer]: (socket) => socket.end(head("503 Busy", "content-length: 0")),
  };
}

/** Reads messages with a Content-Length and answers each with 200. */
function accept(socket: Socket, onMessage: (body: string) => void): void {
  let text = "";
  socket.on("data", (bytes) => {
    text += bytes.toString("latin1");
    const start = text.indexOf("\r\n\r\n") + 4;
    const end = start + Number(/^content-length: (\d+)/im.exec(text)?.[1]);
    if (start < 4 || text.length < end) return;
    onMessage(text.slice(start, end));
    text = "";
    socket.write(head("200 OK", "content-length: 0"));
  });
}

export interface HostileReceiverOptions {
  readonly kind: string;
  /** Default: the receiver is good from the start. */
  readonly misbehave?: Misbehave;
  /** Address to listen on. */
  readonly host: string;
}

export async function openHostileReceiver(
  t: Pick<TestContext, "after">,
  { kind, misbehave, host }: HostileReceiverOptions,
): Promise<HostileReceiver> {
  const keys: string[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  let isGood = misbehave === undefined;

  function readMessage(body: string): void {
    const { Records: records } = JSON.parse(body) as { Records: { s3: { object: { key: string } } }[] };
    keys.push(...records.map(({ s3 }) => s3.object.key));
  }

  const server = createServer((socket) => {
    connections++;
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
    if (isGood || misbehave === undefined) accept(socket, readMessage);
    else if (kind === earlyAnswer) misbehave(socket.resume());
    else socket.once("data", () => misbehave(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const close = () => {
    for (const socket of sockets) socket.destroy();
  };
  t.after(() => {
    close();
    server.close();
  });
  return {
    ...{ kind, keys, connections: () => connections },
    url: `http://${host}:${(server.address() as { port: number }).port}/hook?token=${urlToken}`,
    turnGood() {
      isGood = true;
      close();
    },
  };
}
