// Clients that disconnect in the middle of an upload, in different ways, over raw sockets.
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { encodeText } from "../../../src/http/sigv4.ts";
import { type Signed, signChunked, signRaw } from "../../s3/raw.ts";
import type { Random } from "../../support/random.ts";
import type { LeakScene } from "./scene.ts";

/** IDs of the uploads in flight to which clients send parts and disconnect. */
export interface OpenUploads {
  readonly s3: string;
  readonly script: string;
}

export type Cut = (scene: LeakScene, uploads: OpenUploads, random: Random) => Promise<void>;

const KiB = 1024;
const body = Buffer.alloc(1200 * KiB, "bytes of somebody who is going away ");

/** Returns the number of bytes to send, and a larger number to declare as length. */
function portion(random: Random): { sent: number; declared: number } {
  const sent = random.pick([0, 10, 5 * KiB, 70 * KiB, 70 * KiB, 300 * KiB, 1200 * KiB]);
  return { sent, declared: sent + random.pick([1, 1000, 8 * KiB * KiB]) };
}

/** Sends part of a body, half the time after 100-continue, then closes or resets the connection. */
async function cutOff(port: number, head: readonly string[], sent: Buffer, random: Random): Promise<void> {
  const socket = connect(port, "127.0.0.1");
  const closed = once(socket, "close");
  socket.on("error", () => {});
  await once(socket, "connect");
  const asksFirst = random.below(2) === 0;
  const lines = asksFirst ? [...head, "Expect: 100-continue"] : head;
  socket.write(`${lines.join("\r\n")}\r\n\r\n`, "latin1");
  // Continue after 100-continue, any other response or the end of the connection.
  if (asksFirst) await Promise.race([once(socket, "data"), closed]);
  if (sent.length > 0) await flushed(socket, sent);
  if (random.below(2) === 0) socket.resetAndDestroy();
  else socket.destroy();
  await closed;
}

function flushed(socket: Socket, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => socket.write(bytes, () => resolve()));
}

function s3Head(scene: LeakScene, signed: Signed, length: number): string[] {
  const query = signed.query.map(([name, value]) => `${encodeText(name)}=${encodeText(value)}`).join("&");
  const headers = Object.entries({ ...signed.headers, host: new URL(scene.s3).host });
  return [
    `PUT ${signed.path}${query === "" ? "" : `?${query}`} HTTP/1.1`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
    `content-length: ${length}`,
  ];
}

async function cutS3(scene: LeakScene, query: readonly (readonly [string, string])[], random: Random) {
  const { sent, declared } = portion(random);
  const path = query.length === 0 ? `/bucket/s3-${random.below(50)}` : "/bucket/parts";
  const signed = signRaw(scene.s3, { method: "PUT", path, query }, { key: scene.key, form: "query" });
  const port = Number(new URL(scene.s3).port);
  await cutOff(port, s3Head(scene, signed, declared), body.subarray(0, sent), random);
}

async function cutScript(scene: LeakScene, target: string, random: Random): Promise<void> {
  const { sent, declared } = portion(random);
  const isChunked = random.below(2) === 0;
  const framing = isChunked ? "transfer-encoding: chunked" : `content-length: ${declared}`;
  const frame = isChunked ? Buffer.from(`${declared.toString(16)}\r\n`) : Buffer.alloc(0);
  const bytes = Buffer.concat([frame, body.subarray(0, sent)]);
  await cutOff(scene.port, [`PUT ${target} HTTP/1.1`, "host: a", framing], bytes, random);
}

export const cuts: Readonly<Record<string, Cut>> = {
  "puts by S3": (scene, _, random) => cutS3(scene, [], random),
  "parts by S3": (scene, { s3 }, random) =>
    cutS3(
      scene,
      [
        ["partNumber", String(random.between(1, 5))],
        ["uploadId", s3],
      ],
      random,
    ),
  async "puts by S3 in signed chunks"(scene, _, random) {
    const raw = {
      method: "PUT",
      path: `/bucket/chunks-${random.below(50)}`,
      body: body.subarray(0, 200 * KiB),
    };
    const signed = signChunked(scene.s3, raw, scene.key, "STREAMING-AWS4-HMAC-SHA256-PAYLOAD");
    const sent = signed.body!.subarray(0, random.below(signed.body!.length));
    const port = Number(new URL(scene.s3).port);
    await cutOff(port, s3Head(scene, signed, signed.body!.length), Buffer.from(sent), random);
  },
  "puts by a script": (scene, _, random) => cutScript(scene, `/script-${random.below(50)}`, random),
  "parts by a script": (scene, { script }, random) =>
    cutScript(scene, `/parts?upload=${script}&number=${random.between(1, 5)}`, random),
  async "streams of a script's own"(scene, _, random) {
    const path = `/own-${random.below(50)}?bytes=${random.pick([0, 1, 20 * KiB, 300 * KiB])}`;
    const { text } = await scene.ask(path);
    if (!text.includes("the source is gone"))
      throw new Error(`A failed stream returned the wrong response: ${text}`);
  },
};
