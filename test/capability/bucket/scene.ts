// A bucket of a memory engine on a Unix socket, and a client that sends frames as the runtime does.
import { once } from "node:events";
import { type IncomingHttpHeaders, request } from "node:http";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import type { TestContext } from "node:test";
import {
  bucketListenOptions,
  createBucketCapability,
} from "../../../src/capability/bucket/bucket-capability.ts";
import type { Engine } from "../../../src/engine/engine.ts";
import { listen } from "../../../src/http/server/listen.ts";
import type { Exchange } from "../../../src/metrics/exchange.ts";
import { openEngine } from "../../../src/open.ts";
import { temporaryDirectory } from "../../support/stores.ts";

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The code in the header cf-r2-error. */
  readonly code: number | undefined;
  readonly message: string | undefined;
  readonly metadata: Record<string, unknown>;
  /** The bytes after the metadata. */
  readonly text: string;
}

export interface Scene {
  readonly engine: Engine;
  readonly path: string;
  readonly log: readonly string[];
  /** The requests that have ended. */
  readonly exchanges: readonly Exchange[];
  /** Sends an operation, with `bytes` after its metadata. */
  send(fields: object, bytes?: string | Uint8Array): Promise<Answer>;
  /** Sends text as it is, and returns everything that arrives until the connection closes. */
  sendRaw(text: string | Uint8Array): Promise<string>;
  connect(): Promise<Socket>;
}

const reads = new Set(["head", "get", "list"]);

export async function openScene(
  t: TestContext,
  wrap: (engine: Engine) => Engine = (engine) => engine,
  storage: "memory" | "local" = "memory",
): Promise<Scene> {
  const directory = await temporaryDirectory(t);
  const { engine } = await openEngine(storage === "memory" ? "memory:" : join(directory, "data"));
  for (const name of ["bucket", "other"]) await engine.createBucket(name);
  const path = join(directory, "socket");
  const log: string[] = [];
  const exchanges: Exchange[] = [];
  const handler = createBucketCapability({
    engine: wrap(engine),
    bucket: "bucket",
    log: (line) => log.push(line),
    onExchange: (exchange) => exchanges.push(exchange),
  });
  const listener = await listen(handler, { path }, { ...bucketListenOptions, silenceMilliseconds: 20_000 });
  t.after(async () => {
    await listener.drain();
    await engine.close();
  });
  const open = async () => {
    const socket = connect(path);
    t.after(() => socket.destroy());
    await once(socket, "connect");
    return socket;
  };
  return {
    engine,
    path,
    log,
    exchanges,
    send: (fields, bytes) => sendFrame(path, fields, bytes),
    async sendRaw(text) {
      const socket = await open();
      socket.write(text);
      let received = "";
      for await (const piece of socket) received += String(piece);
      return received;
    },
    connect: open,
  };
}

export function headerFrame(fields: object): string {
  return Buffer.from(JSON.stringify({ version: 1, ...fields })).toString("latin1");
}

async function sendFrame(path: string, fields: object, bytes: string | Uint8Array = ""): Promise<Answer> {
  const { method } = fields as { method?: string };
  const isRead = reads.has(method ?? "");
  const metadata = Buffer.from(JSON.stringify({ version: 1, ...fields }));
  const body = Buffer.concat([metadata, Buffer.from(bytes as Uint8Array)]);
  const sent = request({
    socketPath: path,
    method: isRead ? "GET" : "PUT",
    headers: isRead
      ? { "cf-r2-request": headerFrame(fields) }
      : { "cf-r2-metadata-size": metadata.length, "content-length": body.length },
  });
  sent.end(isRead ? undefined : body);
  const [response] = await once(sent, "response");
  const pieces: Buffer[] = [];
  for await (const piece of response) pieces.push(piece as Buffer);
  return parseAnswer(response.statusCode, response.headers, Buffer.concat(pieces));
}

function parseAnswer(status: number, headers: IncomingHttpHeaders, body: Buffer): Answer {
  const error = headers["cf-r2-error"];
  const { v4code, message } =
    error === undefined ? {} : JSON.parse(Buffer.from(String(error), "latin1").toString());
  const size = headers["cf-r2-metadata-size"];
  const end = size === undefined ? body.length : Number(size);
  const metadata = end === 0 ? {} : JSON.parse(body.subarray(0, end).toString());
  return { status, headers, code: v4code, message, metadata, text: body.subarray(end).toString() };
}
