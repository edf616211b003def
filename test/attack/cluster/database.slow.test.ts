// A hostile or wrong PostgreSQL: whatever it sends, a cluster reports within its timeout that the
// database cannot be used, without taking memory for it.
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { pathToFileURL } from "node:url";
import { openCluster } from "../../../src/cluster/open.ts";

const timeout = 2000;
const authenticated = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0]);
const ready = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);

/** Sends the bytes again and again, as fast as the client reads. */
function sendEndlessly(socket: Socket, bytes: Buffer): void {
  const send = () => {
    while (!socket.destroyed && socket.write(bytes));
  };
  socket.on("drain", send);
  send();
}

const answers: Readonly<Record<string, (socket: Socket) => void>> = {
  "a closed connection": (socket) => socket.destroy(),
  "no answer": () => {},
  "an answer in HTTP": (socket) => socket.end("HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n"),
  "random bytes": (socket) => sendEndlessly(socket, Buffer.alloc(65_536, "\u{1f5c4}k")),
  "a message of 2 GiB": (socket) => {
    socket.write(Buffer.from([0x52, 0x7f, 0xff, 0xff, 0xff]));
    sendEndlessly(socket, Buffer.alloc(65_536));
  },
  "a message with a negative length": (socket) =>
    sendEndlessly(socket, Buffer.from([0x52, 0xff, 0xff, 0xff, 0xff])),
  "notices without an end": (socket) => {
    const notice = Buffer.from([0x4e, 0, 0, 0, 5, 0]);
    sendEndlessly(socket, Buffer.concat(Array.from({ length: 1000 }, () => notice)));
  },
  "results to no question": (socket) => {
    socket.write(authenticated);
    sendEndlessly(socket, Buffer.concat(Array.from({ length: 1000 }, () => ready)));
  },
};

async function listenWith(t: TestContext, answer: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.once("data", () => answer(socket));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

for (const [what, answer] of Object.entries(answers)) {
  test(`a database that answers with ${what} is reported, without taking memory`, async (t) => {
    const port = await listenWith(t, answer);
    const directory = mkdtempSync(join(tmpdir(), "store-test-"));
    t.after(() => rmSync(directory, { recursive: true, force: true }));
    const records = `postgres://store:s3cretpassword@127.0.0.1:${port}/store`;
    let highest = 0;
    const before = process.memoryUsage.rss();
    const watching = setInterval(() => {
      highest = Math.max(highest, process.memoryUsage.rss() - before);
    }, 50);
    t.after(() => clearInterval(watching));
    const location = { records, blobs: pathToFileURL(directory).href };
    await assert.rejects(openCluster(location, { timeout }), (error: Error & { reason?: string }) => {
      assert.equal(error.reason, "ServiceUnavailable", error.message);
      assert.ok(!`${error.stack} ${String(error.cause)}`.includes("s3cretpassword"));
      return true;
    });
    assert.ok(highest < 256 * 1024 * 1024, `${Math.round(highest / 2 ** 20)} MiB`);
  });
}
