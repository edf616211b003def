// A crowd of clients in a process of its own: so many connections at once that each either uploads a body or reads
// one slowly. Raw sockets, so that nothing but the server decides how fast the bytes move.
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
  /** Of the bodies, which the clients share in turn. */
  readonly etags: readonly string[];
}

export interface CrowdOutcome {
  /** Whose answer or bytes were not right, and how. */
  readonly wrong: readonly string[];
  readonly seconds: number;
}

/** Few bodies for many clients: each is told from the others, and none has to be hashed a thousand times. */
export const bodies = 16;

export function bodyOf(index: number, size: number): Buffer {
  return Buffer.from(bytesOf(`crowd ${index}`, { name: "1", size }));
}

/** What has to be sent before a server answers with the body, or takes one. */
function headOf({ url, key, bucket, does, bytes }: Crowd, index: number): string {
  const method = does === "upload" ? "PUT" : "GET";
  const name = does === "upload" ? `in-${index}` : `in-${index % bodies}`;
  const signed = signRaw(url, { method, path: `/${bucket}/${name}` }, { key, form: "query", expires: 3600 });
  const query = signed.query.map(([one, value]) => `${one}=${encodeText(value)}`).join("&");
  const length = does === "upload" ? `content-length: ${bytes}\r\n` : "";
  return `${method} ${signed.path}?${query} HTTP/1.1\r\nhost: ${signed.headers.host}\r\n${length}connection: close\r\n\r\n`;
}

async function connected(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, "connect");
  return socket;
}

/** All that comes until the end, while the body goes out as the server takes it. */
async function upload(socket: Socket, rest: Buffer, etag: string): Promise<string | undefined> {
  let answer = "";
  socket.on("data", (piece) => {
    answer += piece.toString("latin1");
  });
  socket.resume();
  socket.write(rest);
  await once(socket, "close");
  const isRight = answer.startsWith("HTTP/1.1 200 ") && answer.includes(`\r\netag: "${etag}"\r\n`);
  return isRight ? undefined : answer.slice(0, 300) || "no answer";
}

/** Compares as it comes: nothing of it is kept. */
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
  if (!head.startsWith("HTTP/1.1 200 ")) return head.slice(0, 300) || "no answer";
  return wrong ?? (at === expected.length ? undefined : `${at} bytes came`);
}

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

async function gather(crowd: Crowd): Promise<Socket[]> {
  const sockets: Socket[] = [];
  for (let from = 0; from < crowd.clients; from += 100) {
    const count = Math.min(100, crowd.clients - from);
    sockets.push(...(await Promise.all(Array.from({ length: count }, () => connected(crowd.url)))));
  }
  return sockets;
}

async function run(crowd: Crowd): Promise<CrowdOutcome> {
  const { clients, bytes, etags, does } = crowd;
  const all = Array.from({ length: bodies }, (_, i) => bodyOf(i, bytes));
  const sockets = await gather(crowd);
  const broken = new Map<number, string>();
  const started = Date.now();
  // Everybody begins before anybody goes on.
  for (const [i, socket] of sockets.entries()) {
    socket.on("error", (error) => broken.set(i, error.message));
    socket.pause();
    socket.write(headOf(crowd, i));
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

/** How long nobody goes on: a reader that is this slow has filled every buffer on the way to it. */
const slowMilliseconds = 3000;
const firstBytes = 100_000;

if (process.argv[2] !== undefined && process.send !== undefined) {
  const outcome = await run(JSON.parse(process.argv[2]) as Crowd);
  process.send(outcome satisfies CrowdOutcome, () => process.disconnect());
}
