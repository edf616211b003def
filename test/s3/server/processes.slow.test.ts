// Processes of the S3 API: a killed process is replaced, shutdown waits for requests in flight, and
// disconnected clients leave no files, uploads or descriptors.
import assert from "node:assert/strict";
import { once } from "node:events";
import { realpathSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { test } from "node:test";
import { encodeText } from "../../../src/http/sigv4.ts";
import { isAlive, openFiles, until } from "../../script/inside.ts";
import { blobFiles } from "../../support/disk/on-disk.ts";
import { s3Processes } from "../inside.ts";
import { type Raw, sendRaw, signRaw } from "../raw.ts";
import { type S3Scene, s3Scene } from "../scene.ts";

const MiB = 1024 * 1024;
const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

function call({ url, key }: S3Scene, raw: Raw): ReturnType<typeof sendRaw> {
  return sendRaw(url, signRaw(url, raw, { key, form: "header" }));
}

/** Opens a connection and sends the headers of a presigned request. */
async function begin({ url, key }: S3Scene, raw: Raw, ...lines: string[]): Promise<Socket> {
  const { path, query, headers } = signRaw(url, raw, { key, form: "query" });
  const text = query.map(([name, value]) => `${name}=${encodeText(value)}`).join("&");
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => {});
  await once(socket, "connect");
  const head = [`${raw.method} ${path}?${text} HTTP/1.1`, `host: ${headers.host}`, ...lines, "", ""];
  socket.write(head.join("\r\n"));
  return socket;
}

async function readToEnd(socket: Socket): Promise<string> {
  let found = "";
  socket.on("data", (piece) => {
    found += piece.toString("latin1");
  });
  await once(socket, "close");
  return found;
}

test("a killed S3 process is replaced, and the other processes keep serving", async (t) => {
  const s3 = await s3Scene(t, "serve");
  const before = s3Processes(s3.server.pid);
  if (before.length < 2) {
    const why = "NOT TESTED: other processes keep serving. This machine has one core, and so one process.";
    console.error(why);
    t.skip(why);
    return;
  }
  await call(s3, { method: "PUT", path: "/bucket/there", body: Buffer.from("still there") });
  const [killed] = before;
  process.kill(killed!, "SIGKILL");
  const started = Date.now();
  let served = 0;
  let replaced: number | undefined;
  while (replaced === undefined || Date.now() - started < 1500) {
    // Connections of the killed process break; new connections must work.
    const answer = await call(s3, { method: "GET", path: "/bucket/there" }).catch(() => undefined);
    if (answer !== undefined) assert.equal(answer.text, "still there");
    if (answer !== undefined) served++;
    else assert.ok(Date.now() - started < 30_000, "connections are refused for too long");
    const now = s3Processes(s3.server.pid).filter((pid) => isAlive(pid));
    if (replaced === undefined && !now.includes(killed!) && now.length === before.length) {
      replaced = Date.now() - started;
    }
    assert.ok(Date.now() - started < 60_000, "the process is replaced");
  }
  t.diagnostic(`replaced after ${replaced} ms, ${served} requests served meanwhile`);
  assert.ok(served > 0);

  // The other processes are stopped, so only the new process can respond.
  const survivors = before.filter((pid) => pid !== killed);
  for (const pid of survivors) process.kill(pid, "SIGSTOP");
  try {
    const answer = await call(s3, { method: "GET", path: "/bucket/there" });
    assert.equal(answer.text, "still there");
  } finally {
    for (const pid of survivors) process.kill(pid, "SIGCONT");
  }
});

test("shutdown of the server finishes uploads and downloads in flight", async (t) => {
  const s3 = await s3Scene(t);
  const body = Buffer.alloc(64 * MiB, "some bytes ");
  await call(s3, { method: "PUT", path: "/bucket/large", body });
  const reader = await begin(s3, { method: "GET", path: "/bucket/large" });
  const writer = await begin(s3, { method: "PUT", path: "/bucket/late" }, "content-length: 20");
  writer.write("0123456789");
  await once(reader, "readable");
  const ended = s3.server.stop("SIGTERM");
  await pause(300);
  writer.write("0123456789");
  const [read, written] = await Promise.all([readToEnd(reader), readToEnd(writer)]);
  assert.match(written, /^HTTP\/1\.1 200 OK/);
  assert.equal(read.length - read.indexOf("\r\n\r\n") - 4, body.length);
  assert.equal((await ended).code, 0);
});

test("clients that disconnect leave no file, no upload and no open file descriptor", async (t) => {
  const s3 = await s3Scene(t);
  const [pid] = s3Processes(s3.server.pid);
  const data = realpathSync(s3.data);
  const body = Buffer.alloc(64 * MiB, "some bytes ");
  await call(s3, { method: "PUT", path: "/bucket/large", body });
  const openBlobs = () => openFiles(pid!, data).filter((path) => path.includes("/blobs/"));
  await until(() => openBlobs().length === 0, "the upload has closed its file");
  const files = blobFiles(data).length;

  const writers = await Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      begin(s3, { method: "PUT", path: `/bucket/gone-${i}` }, `content-length: ${8 * MiB}`),
    ),
  );
  for (const writer of writers) writer.write(body.subarray(0, MiB));
  await until(() => openBlobs().length === 20, "each upload has a file open");
  for (const writer of writers) writer.destroy();
  await until(
    () => openBlobs().length === 0 && blobFiles(data).length === files,
    "the files of the uploads are deleted",
  );

  const readers = await Promise.all(
    Array.from({ length: 20 }, () => begin(s3, { method: "GET", path: "/bucket/large" })),
  );
  await Promise.all(readers.map((reader) => once(reader, "readable")));
  assert.equal(openBlobs().length, 20, "each download has its file open");
  for (const reader of readers) reader.destroy();
  await until(() => openBlobs().length === 0, "no download has its file open");

  const listed = await call(s3, { method: "GET", path: "/bucket" });
  assert.deepEqual(listed.text.match(/<Key>[^<]*/g), ["<Key>large"]);
  const uploads = await call(s3, { method: "GET", path: "/bucket", query: [["uploads", ""]] });
  assert.doesNotMatch(uploads.text, /<Upload>/);
  assert.deepEqual(s3Processes(s3.server.pid), [pid]);
});
