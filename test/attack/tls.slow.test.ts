// Hostile TLS clients on every port: broken and endless handshakes, renegotiation, forged tickets and
// uploads that end without a farewell. Other clients are served meanwhile.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { request } from "node:https";
import { connect as connectPlain, createServer, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { type ConnectionOptions, connect, type TLSSocket } from "node:tls";
import { encodeText } from "../../src/http/sigv4.ts";
import { s3Processes } from "../s3/inside.ts";
import { signRaw } from "../s3/raw.ts";
import type { Key } from "../s3/scene.ts";
import { scriptScene } from "../script/scene.ts";
import type { Server } from "../script/server.ts";
import { makeCertificate } from "../support/certificate.ts";
import { treeMemory } from "../support/process-tree.ts";

const MiB = 2 ** 20;
const clients = 40;
const maxGrowth = 96 * MiB;

interface Secured {
  readonly server: Server;
  readonly ca: string;
  readonly ports: Readonly<Record<string, number>>;
  /** Returns a presigned path and query for this method. */
  presigned(method: string, path: string): string;
}

async function startSecured(t: TestContext): Promise<Secured> {
  const script = `export default { fetch: () => new Response("good") };`;
  const scene = await scriptScene(t, script);
  const { certificate, key: secret } = makeCertificate();
  const [cert, keyFile] = [await scene.write("cert.pem", certificate), await scene.write("key.pem", secret)];
  const args = ["--public-port", "0", "--tls-cert", cert, "--tls-key", keyFile];
  const server = await scene.start("serve", { args });
  const { url } = server.announced.s3;
  const announced = server.announced as Server["announced"] & { readonly public: { readonly url: string } };
  const key = JSON.parse(await scene.shell.store("key", "create", "--json")) as Key;
  const portOf = (address: string) => Number(new URL(address).port);
  return {
    ...{ server, ca: certificate },
    ports: {
      s3: portOf(url),
      script: server.port,
      console: portOf(announced.console.url),
      public: portOf(announced.public.url),
    },
    presigned(method, path) {
      const { query } = signRaw(url, { method, path }, { key, form: "query" });
      return `${path}?${query.map(([name, value]) => `${name}=${encodeText(value)}`).join("&")}`;
    },
  };
}

/** Status of one request on a new connection. */
async function statusOf({ ca, ports }: Secured, name: string): Promise<number> {
  const path = name === "console" ? "/healthz" : "/";
  const outgoing = request({ host: "127.0.0.1", port: ports[name], path, ca, agent: false });
  outgoing.setTimeout(20_000, () => outgoing.destroy(new Error(`the ${name} port does not answer`)));
  outgoing.end();
  const [incoming] = await once(outgoing, "response");
  incoming.resume();
  await once(incoming, "end");
  return incoming.statusCode;
}

async function assertServes(scene: Secured, what: string): Promise<void> {
  const expected: Readonly<Record<string, number>> = { s3: 403, script: 200, console: 200, public: 404 };
  for (const name of Object.keys(scene.ports)) {
    assert.equal(await statusOf(scene, name), expected[name], `${name} after ${what}`);
  }
}

/** Records the first bytes that a TLS client sends. */
async function firstFlight(options: ConnectionOptions): Promise<Buffer> {
  const listener = createServer();
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  const { port } = listener.address() as { port: number };
  const client = connect({ host: "127.0.0.1", port, ...options });
  client.on("error", () => {});
  const [accepted] = (await once(listener, "connection")) as [Socket];
  const [bytes] = (await once(accepted, "data")) as [Buffer];
  accepted.destroy();
  client.destroy();
  listener.close();
  return bytes;
}

/** Bytes of clients that never complete a handshake. */
async function brokenHandshakes(): Promise<Readonly<Record<string, Buffer>>> {
  const hello = await firstFlight({ servername: "localhost" });
  const longName = await firstFlight({ servername: `${"a".repeat(60)}.`.repeat(250) });
  return {
    "the first byte of a handshake": Buffer.from([22]),
    "a hello that stops in its middle": hello.subarray(0, hello.length >> 1),
    "a hello and nothing after it": hello,
    "a thousand hellos": Buffer.concat(Array.from({ length: 1000 }, () => hello)),
    "a hello with a name of 15 KB": longName,
    "a record of 65,535 bytes": Buffer.concat([Buffer.from("160301ffff", "hex"), randomBytes(65_535)]),
    "random bytes after a record's head": Buffer.concat([Buffer.from("1603010200", "hex"), randomBytes(512)]),
    "empty records": Buffer.alloc(50_000, Buffer.from("1603010000", "hex")),
    warnings: Buffer.concat([hello, Buffer.alloc(70_000, Buffer.from("15030300020100", "hex"))]),
    "a hello of SSL 2": Buffer.from(
      "802e0100020015000000100100800200800300800400800500800600400700c0",
      "hex",
    ),
    "plain HTTP": Buffer.from(`GET / HTTP/1.1\r\nHost: a\r\nX: ${"x".repeat(100_000)}\r\n\r\n`),
  };
}

async function holdPlain(port: number, bytes: Buffer): Promise<Socket> {
  const socket = connectPlain({ port, host: "127.0.0.1" });
  socket.on("error", () => {});
  await once(socket, "connect");
  socket.write(bytes);
  socket.resume();
  return socket;
}

async function secured(scene: Secured, name: string, options: ConnectionOptions = {}): Promise<TLSSocket> {
  const socket = connect({ host: "127.0.0.1", port: scene.ports[name]!, ca: scene.ca, ...options });
  await once(socket, "secureConnect");
  socket.on("error", () => {});
  return socket;
}

test("hostile TLS clients stop no port", async (t) => {
  const scene = await startSecured(t);
  const { server, ports } = scene;
  for (let round = 0; round < 5; round++) await assertServes(scene, "nothing");
  const before = treeMemory(server.pid);
  const processes = s3Processes(server.pid);

  for (const [what, bytes] of Object.entries(await brokenHandshakes())) {
    await t.test(`${clients} connections of ${what} block nobody`, async () => {
      for (const [name, port] of Object.entries(ports)) {
        const held = await Promise.all(Array.from({ length: clients }, () => holdPlain(port, bytes)));
        assert.ok([200, 403, 404].includes(await statusOf(scene, name)), name);
        for (const socket of held) socket.destroy();
      }
      await assertServes(scene, what);
    });
  }
  await t.test("200 handshakes that are left at once block nobody", async () => {
    for (const name of Object.keys(ports)) {
      for (let i = 0; i < 10; i++) {
        const opened = await Promise.all(Array.from({ length: 20 }, () => secured(scene, name)));
        for (const socket of opened) socket.destroy();
      }
      await assertServes(scene, "handshakes");
    }
  });
  await t.test("a client cannot renegotiate", async () => {
    for (const name of Object.keys(ports)) {
      const socket = await secured(scene, name, { maxVersion: "TLSv1.2" });
      const renegotiated = await new Promise<boolean>((resolve) => {
        socket.once("close", () => resolve(false));
        socket.renegotiate({}, (error) => resolve(error === null));
      });
      assert.equal(renegotiated, false, name);
      socket.destroy();
    }
    await assertServes(scene, "renegotiation");
  });
  await t.test("a forged session ticket leads to a full handshake", async () => {
    const first = await secured(scene, "s3", { maxVersion: "TLSv1.2" });
    const session = first.getSession()!;
    const ticket = first.getTLSTicket()!;
    first.destroy();
    const resumed = await secured(scene, "s3", { maxVersion: "TLSv1.2", session });
    assert.equal(resumed.isSessionReused(), true, "the ticket is valid");
    resumed.destroy();
    const forged = Buffer.from(session);
    forged.set(randomBytes(ticket.length), session.indexOf(ticket));
    const full = await secured(scene, "s3", { maxVersion: "TLSv1.2", session: forged });
    assert.equal(full.isSessionReused(), false);
    full.destroy();
  });
  await t.test("an upload that ends without a farewell is not stored", async () => {
    for (const body of [
      "Content-Length: 100\r\n\r\nhalf",
      "Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
    ]) {
      const raw = connectPlain({ host: "127.0.0.1", port: ports.s3! });
      const socket = await secured(scene, "s3", { socket: raw });
      const host = `Host: 127.0.0.1:${ports.s3}\r\n`;
      const text = `PUT ${scene.presigned("PUT", "/bucket/half")} HTTP/1.1\r\n${host}${body}`;
      await new Promise((resolve) => socket.write(text, resolve));
      // Ends the connection below TLS, as somebody between client and server could.
      raw.destroy();
      socket.destroy();
      const outgoing = request({
        ...{ host: "127.0.0.1", port: ports.s3, method: "HEAD", ca: scene.ca, agent: false },
        path: scene.presigned("HEAD", "/bucket/half"),
      });
      outgoing.end();
      const [incoming] = await once(outgoing, "response");
      incoming.resume();
      assert.equal(incoming.statusCode, 404, body);
    }
  });
  await assertServes(scene, "all attacks");
  assert.deepEqual(s3Processes(server.pid), processes, "the processes of the S3 API are the same");
  const grown = treeMemory(server.pid) - before;
  assert.ok(grown < maxGrowth, `memory grew by ${Math.round(grown / MiB)} MiB`);
});
