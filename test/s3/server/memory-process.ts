// Many concurrent S3 clients in a separate process, which upload bodies or read them slowly. Uses
// raw sockets, so that only the server limits the speed.
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { encodeText } from "../../../src/http/sigv4.ts";
import { bytesOf } from "../../support/bodies.ts";
import { signRaw } from "../raw.ts";
import type { Key } from "../scene.ts";

export interface Crowd {
  readonly url: string;
  readonly key: Key;
  readonly bucket: string;
  readonly does: "upload" | "read slowly";
  readonly clients: number;
  readonly bytes: number;
  /** Etags of the bodies that the clients send or expect. */
  readonly etags: readonly string[];
}

export interface CrowdOutcome {
  /** A reason for each client that got a wrong response or wrong bytes. */
  readonly wrong: readonly string[];
  readonly seconds: number;
}

/** Number of different bodies. Clients share a few, which saves hashing a body for every client. */
export const bodies = 16;

export function createBody(index: number, size: number): Buffer {
  return Buffer.from(bytesOf(`crowd ${index}`, { name: "1", size }));
}

/** Returns the request line and headers of a client. */
function formatHead({ url, key, bucket, does, bytes }: Crowd, index: number): string {
  const method = does === "upload" ? "PUT" : "GET";
  const name = does === "upload" ? `in-${index}` : `in-${index % bodies}`;
  const signed = signRaw(url, { method, path: `/${bucket}/${name}` }, { key, form: "query", expires: 3600 });
  const query = signed.query.map(([one, value]) => `${one}=${encodeText(value)}`).join("&");
  const length = does === "upload" ? `content-length: ${bytes}\r\n` : "";
  return `${method} ${signed.path}?${query} HTTP/1.1\r\nhost: ${signed.headers.host}\r\n${length}connection: close\r\n\r\n`;
}

async function openConnection(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, "connect");
  return socket;
}

/** Sends the rest of the body and checks the response. Returns the fault, if any. */
async function upload(socket: Socket, rest: Buffer, etag: string): Promise<string | undefined> {
  let answer = "";
  socket.on("data", (piece) => {
    answer += piece.toString("latin1");
  });
  socket.resume();
  socket.write(rest);
  await once(socket, "close");
  const isRight = answer.startsWith("HTTP/1.1 200 ") && answer.includes(`\r\netag: "${etag}"\r\n`);
  return isRight ? undefined : answer.slice(0, 300) || "no response";
}

/** Compares the body while it arrives. Returns the fault, if any. */
async function read(socket: Socket, expected: Buffer): Promise<string | undefined> {
  let head = "";
  let at = -1;
  let wrong: string | undefined;
  socket.on("data", (piece: Buffer) => {
    let bytes = piece;
    if (at === -1) {
      head += piece.toString("latin1");
      const end = head.indexOf("\r\n\r\n");
      if (end === -1) return;
      bytes = Buffer.from(head.slice(end + 4), "latin1");
      head = head.slice(0, end);
      at = 0;
    }
    if (!bytes.equals(expected.subarray(at, at + bytes.length))) wrong ??= `wrong bytes at ${at}`;
    at += bytes.length;
  });
  socket.resume();
  await once(socket, "close");
  if (!head.startsWith("HTTP/1.1 200 ")) return head.slice(0, 300) || "no response";
  return wrong ?? (at === expected.length ? undefined : `${at} bytes came`);
}

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

async function connectClients(crowd: Crowd): Promise<Socket[]> {
  const sockets: Socket[] = [];
  for (let from = 0; from < crowd.clients; from += 100) {
    const count = Math.min(100, crowd.clients - from);
    sockets.push(...(await Promise.all(Array.from({ length: count }, () => openConnection(crowd.url)))));
  }
  return sockets;
}

async function run(crowd: Crowd): Promise<CrowdOutcome> {
  const { clients, bytes, etags, does } = crowd;
  const all = Array.from({ length: bodies }, (_, i) => createBody(i, bytes));
  const sockets = await connectClients(crowd);
  const broken = new Map<number, string>();
  const started = Date.now();
  // All clients send their first bytes before any of them continues.
  for (const [i, socket] of sockets.entries()) {
    socket.on("error", (error) => broken.set(i, error.message));
    socket.pause();
    socket.write(formatHead(crowd, i));
    if (does === "upload") socket.write(all[i % bodies]!.subarray(0, firstBytes));
  }
  await pause(slowMilliseconds);
  const outcomes = await Promise.all(
    Array.from({ length: clients }, (_, i) => {
      const body = all[i % bodies]!;
      return does === "upload"
        ? upload(sockets[i]!, body.subarray(firstBytes), etags[i % bodies]!)
        : read(sockets[i]!, body);
    }),
  );
  const wrong = outcomes.flatMap((outcome, i) => {
    const what = broken.get(i) ?? outcome;
    return what === undefined ? [] : [`${i}: ${what}`];
  });
  return { wrong, seconds: (Date.now() - started) / 1000 };
}

/** Pause of all readers, long enough to fill every buffer between server and reader. */
const slowMilliseconds = 3000;
const firstBytes = 100_000;

if (process.argv[2] !== undefined && process.send !== undefined) {
  const outcome = await run(JSON.parse(process.argv[2]) as Crowd);
  process.send(outcome satisfies CrowdOutcome, () => process.disconnect());
}
