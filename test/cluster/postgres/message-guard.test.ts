// A service that answers on the port of the database, and is not PostgreSQL or is hostile: the
// connection fails at once, over TLS too, and neither loops, nor fills the memory, nor ends the process.
import assert from "node:assert/strict";
import { createServer, type Socket } from "node:net";
import { PassThrough } from "node:stream";
import { type TestContext, test } from "node:test";
import { TLSSocket } from "node:tls";
import { openConnection } from "../../../src/cluster/postgres/connection.ts";
import { guardMessages } from "../../../src/cluster/postgres/message-guard.ts";
import { parsePostgresUrl } from "../../../src/cluster/postgres/url.ts";
import { makeCertificate } from "../../support/certificate.ts";

function message(type: string, payload: string | Buffer, length = 4 + Buffer.byteLength(payload)): Buffer {
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeUInt32BE(length, 1);
  return Buffer.concat([head, Buffer.from(payload)]);
}

const malformed: Readonly<Record<string, readonly [Buffer, RegExp]>> = {
  "an error without an end": [message("E", "SFATAL"), /not PostgreSQL: an error without an end/],
  "an error of no bytes": [message("E", ""), /not PostgreSQL: an error without an end/],
  "a notice whose text has no end": [message("N", "SNOTICE\0Mtext"), /not PostgreSQL: an error without/],
  "a length that does not count itself": [message("Z", "", 3), /not PostgreSQL: a message of 3 bytes/],
  "a length of gigabytes": [message("D", "x", 0xffffffff), /not PostgreSQL: a message of 4294967295 bytes/],
  "a row without columns": [message("D", ""), /out of range|unexpected/],
  "an unknown kind of password": [message("R", Buffer.from([0, 0, 0, 99])), /99/],
};

/** Starts a service that answers every connection with these bytes, in pieces of this size. */
async function startService(t: TestContext, answer: Buffer, piece: number, tls: boolean): Promise<number> {
  const { certificate, key } = makeCertificate();
  const sockets = new Set<Socket>();
  const send = (socket: Socket) => {
    for (let at = 0; at < answer.length; at += piece) socket.write(answer.subarray(at, at + piece));
  };
  const server = createServer((socket) => {
    sockets.add(socket.setNoDelay(true).on("error", () => {}));
    if (!tls) return send(socket);
    socket.once("data", () => {
      socket.write("S");
      const secured = new TLSSocket(socket, { isServer: true, cert: certificate, key });
      secured.on("error", () => {}).once("data", () => send(secured));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as { port: number }).port;
}

for (const tls of [false, true]) {
  const how = tls ? "over TLS" : "without TLS";
  for (const [name, [answer, expected]] of Object.entries(malformed)) {
    test(`a service that sends ${name} ${how} is refused at once`, async (t) => {
      for (const piece of [answer.length, 1]) {
        const port = await startService(t, answer, piece, tls);
        const mode = tls ? "require" : "disable";
        const address = parsePostgresUrl(`postgres://u:p@127.0.0.1:${port}/x?sslmode=${mode}`);
        const opening = openConnection(address, address.hosts[0]!, {
          generation: 0,
          until: Date.now() + 60_000,
        });
        await assert.rejects(opening, expected);
      }
    });
  }
}

test("well-formed messages are delivered unchanged, in whatever pieces they arrive", () => {
  const messages = Buffer.concat([
    message("E", "SERROR\0Mwrong\0\0"),
    message("N", "\0"),
    message("Z", "I"),
    message("1", ""),
    message("D", Buffer.alloc(100, "E")),
    message("E", "SERROR\0\0"),
  ]);
  for (const piece of [1, 2, 3, 7, messages.length]) {
    const stream = new PassThrough();
    const delivered: Buffer[] = [];
    stream.on("data", (chunk: Buffer) => delivered.push(chunk));
    guardMessages(stream);
    for (let at = 0; at < messages.length; at += piece)
      stream.emit("data", messages.subarray(at, at + piece));
    assert.deepEqual(Buffer.concat(delivered), messages);
    assert.equal(stream.destroyed, false);
  }
});
