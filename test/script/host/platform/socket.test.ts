// TCP sockets of "cloudflare:sockets", tested with local servers.
import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { TLSSocket } from "node:tls";
import { connect } from "../../../../src/script/host/platform/socket.ts";
import { makeCertificate } from "../../../support/certificate.ts";

async function listening(t: TestContext, onSocket: (socket: Socket) => void): Promise<number> {
  const server: Server = createServer(onSocket).listen(0, "127.0.0.1");
  t.after(() => server.close());
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

const text = (value: string) => new TextEncoder().encode(value);

test("a TCP socket sends and receives bytes, and its stream ends when the peer ends the connection", async (t) => {
  const port = await listening(t, (socket) => {
    socket.once("data", (data) => socket.end(`got ${data}`));
  });
  const socket = connect({ hostname: "127.0.0.1", port });
  assert.equal((await socket.opened).remoteAddress, `127.0.0.1:${port}`);
  const writer = socket.writable.getWriter();
  await writer.write(text("hello"));
  assert.equal(await new Response(socket.readable).text(), "got hello");
  await socket.close();
});

test("a failed TCP connection rejects the socket's opened and closed promises and its streams", async () => {
  const refused = connect("127.0.0.1:1");
  await assert.rejects(refused.opened, { code: "ECONNREFUSED" });
  await assert.rejects(refused.closed, { code: "ECONNREFUSED" });
  await assert.rejects(refused.readable.getReader().read(), { code: "ECONNREFUSED" });
});

test("close ends a TCP connection even if received data is unread", async (t) => {
  let ended: Promise<unknown> | undefined;
  const port = await listening(t, (socket) => {
    socket.on("error", () => {});
    socket.write("unread");
    socket.resume();
    ended = once(socket, "end");
  });
  const socket = connect(`127.0.0.1:${port}`);
  await socket.opened;
  await socket.close();
  await ended;
});

test("startTls starts TLS on a plain TCP connection", async (t) => {
  const { certificate, key } = makeCertificate();
  const port = await listening(t, (socket) => {
    socket.once("data", () => {
      socket.write("S");
      const secured = new TLSSocket(socket, { isServer: true, cert: certificate, key });
      secured.on("error", () => {});
      secured.on("data", (data) => secured.end(`secure ${data}`));
    });
  });
  const socket = connect(`127.0.0.1:${port}`, { secureTransport: "starttls" });
  const [reader, writer] = [socket.readable.getReader(), socket.writable.getWriter()];
  await writer.write(text("upgrade"));
  assert.deepEqual((await reader.read()).value, text("S"));
  reader.releaseLock();
  writer.releaseLock();
  const secured = socket.startTls();
  await socket.closed;
  assert.deepEqual([secured.upgraded, secured.secureTransport], [true, "on"]);
  // The error proves the handshake: this machine does not trust the certificate.
  await assert.rejects(secured.opened, { code: "DEPTH_ZERO_SELF_SIGNED_CERT" });
  assert.throws(() => secured.startTls(), /secureTransport: "starttls"/);
});

test("TCP sockets refuse an address without a port, and text instead of bytes", async (t) => {
  for (const address of ["localhost", "localhost:0", "localhost:99999", "http://a:80/"]) {
    assert.throws(() => connect(address), TypeError, address);
  }
  const port = await listening(t, (socket) => socket.on("error", () => {}));
  const socket = connect(`127.0.0.1:${port}`);
  await assert.rejects(socket.writable.getWriter().write("text"), /A socket takes bytes, not a string/);
  await socket.close().catch(() => {});
});
