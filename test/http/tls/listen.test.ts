// A listener with TLS: protocols, refused clients, and changes of the certificate.
import assert from "node:assert/strict";
import { createPrivateKey, X509Certificate } from "node:crypto";
import { once } from "node:events";
import { connect as connectPlain } from "node:net";
import { type TestContext, test } from "node:test";
import { type ConnectionOptions, connect, type TLSSocket } from "node:tls";
import { type HttpHandler, type HttpListener, listen } from "../../../src/http/server/listen.ts";
import { checkPair, PairError } from "../../../src/http/tls/certificate.ts";
import { createTlsSource, type MutableTlsSource } from "../../../src/http/tls/tls.ts";
import { converse, restOf } from "../../script/client.ts";
import { makeCertificate } from "../../support/certificate.ts";
import { secureClient } from "./client.ts";

const day = 86_400_000;

interface Served {
  readonly port: number;
  readonly certificate: string;
  readonly tls: MutableTlsSource;
  readonly listening: HttpListener;
}

async function serve(t: TestContext, tls?: MutableTlsSource, silenceMilliseconds = 20_000): Promise<Served> {
  const source = tls ?? createTlsSource(checkPair(makeCertificate(), Date.now()).pair);
  const listening = await listen(
    ({ scheme, target }) => ({ status: 200, headers: [], body: `${scheme} ${target}` }),
    { host: "127.0.0.1", port: 0 },
    { tls: source, silenceMilliseconds },
  );
  t.after(() => listening.drain());
  return { port: listening.port!, certificate: source.current().certificate, tls: source, listening };
}

async function connectSecurely(options: ConnectionOptions): Promise<TLSSocket> {
  const socket = connect({ host: "127.0.0.1", ...options });
  await once(socket, "secureConnect");
  return socket;
}

test("a client that offers h2 and http/1.1 is served over TLS with HTTP/1.1", async (t) => {
  const { port, certificate } = await serve(t);
  const { status, text, protocol } = await secureClient(port, certificate).ask("/a");
  assert.deepEqual([status, text, protocol], [200, "https /a", "http/1.1"]);
});

test("clients that support only TLS 1.1 or offer only HTTP/2 are refused", async (t) => {
  const { port, certificate: ca } = await serve(t);
  await assert.rejects(
    connectSecurely({ port, ca, maxVersion: "TLSv1.1", minVersion: "TLSv1.1", ciphers: "ALL:@SECLEVEL=0" }),
  );
  await assert.rejects(connectSecurely({ port, ca, ALPNProtocols: ["h2"] }));
  for (const version of ["TLSv1.2", "TLSv1.3"] as const) {
    const socket = await connectSecurely({ port, ca, maxVersion: version });
    assert.equal(socket.getProtocol(), version);
    socket.destroy();
  }
});

test("a plain HTTP request to a TLS port gets a 400 that says to use HTTPS", async (t) => {
  const { port } = await serve(t);
  const answer = await restOf(await converse(port, "GET / HTTP/1.1", "Host: a", ""));
  assert.match(answer, /^HTTP\/1\.1 400 Bad Request\r\n/);
  assert.match(answer, /This port speaks HTTPS/);
});

test("a request in two TLS records that arrives before the last response has left is answered", async (t) => {
  const source = createTlsSource(checkPair(makeCertificate(), Date.now()).pair);
  const large = Buffer.alloc(32 * 1024 * 1024, "a");
  let onWritten = () => {};
  const isWritten = new Promise<void>((resolve) => {
    onWritten = resolve;
  });
  const handler: HttpHandler = async (request) => {
    if (request.method === "GET") return { status: 200, headers: [], body: large, onSent: onWritten };
    let count = 0;
    for await (const chunk of request.body()) count += chunk.length;
    return { status: 200, headers: [["connection", "close"]], body: `received ${count}` };
  };
  const listening = await listen(handler, { host: "127.0.0.1", port: 0 }, { tls: source });
  t.after(() => listening.drain());
  const socket = await connectSecurely({ port: listening.port!, ca: source.current().certificate });
  socket.pause();
  socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  await isWritten;
  const body = "b".repeat(16 * 1024);
  socket.write(`PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
  const received: Buffer[] = [];
  for await (const chunk of socket) received.push(chunk as Buffer);
  const answers = Buffer.concat(received);
  assert.ok(answers.length > large.length);
  assert.match(answers.subarray(-200).toString(), /HTTP\/1\.1 200 OK\r\n.*received 16384$/s);
});

test("a client that does not complete the TLS handshake is disconnected", async (t) => {
  const { port } = await serve(t, undefined, 50);
  for (const sent of [[], [22, 3, 1, 2]]) {
    const socket = connectPlain(port, "127.0.0.1");
    await once(socket, "connect");
    socket.write(Buffer.from(sent));
    assert.equal(await restOf(socket).catch(() => ""), "");
  }
});

test("a new certificate is used for new connections, and open connections keep theirs", async (t) => {
  const { port, certificate, tls } = await serve(t);
  const before = secureClient(port, certificate);
  const first = await before.ask("/1");
  const next = makeCertificate();
  tls.change(checkPair(next, Date.now()).pair);
  const kept = await before.ask("/2");
  assert.deepEqual([kept.isKept, kept.fingerprint], [true, first.fingerprint]);
  const { fingerprint } = await secureClient(port, next.certificate).ask("/3");
  assert.equal(fingerprint, new X509Certificate(next.certificate).fingerprint256);
  assert.notEqual(fingerprint, first.fingerprint);
});

test("a TLS session is resumed by another process with the same ticket keys", async (t) => {
  const one = await serve(t);
  const other = await serve(t, createTlsSource(one.tls.current()));
  const socket = connect({ host: "127.0.0.1", port: one.port, ca: one.certificate });
  const [session] = (await once(socket, "session")) as [Buffer];
  socket.destroy();
  const again = await connectSecurely({ port: other.port, ca: one.certificate, session });
  assert.equal(again.isSessionReused(), true);
  again.destroy();
});

test("draining a TLS port does not wait for idle connections or incomplete handshakes", async (t) => {
  const { port, certificate, listening } = await serve(t);
  await secureClient(port, certificate).ask("/");
  const silent = connectPlain(port, "127.0.0.1");
  await once(silent, "connect");
  const ended = once(silent, "close");
  silent.resume();
  silent.on("error", () => {});
  await listening.drain();
  await ended;
});

test("an unusable certificate or key is refused with a message that does not contain the key", () => {
  const now = Date.now();
  const { certificate, key } = makeCertificate({ from: now, until: now + day });
  const other = makeCertificate();
  const sealed = { type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "secret" } as const;
  const encrypted = createPrivateKey(key).export(sealed).toString();
  const cases: readonly [ReturnType<typeof makeCertificate>, number, PairError["part"], RegExp][] = [
    [{ certificate, key }, now + 2 * day, "certificate", /^has expired, on \d{4}-\d\d-\d\d\.$/],
    [{ certificate, key }, now - day, "certificate", /^is not valid before \d{4}-/],
    [{ certificate, key: other.key }, now, "key", /^does not belong to the certificate/],
    [{ certificate, key: encrypted }, now, "key", /^is encrypted/],
    [{ certificate, key: certificate }, now, "key", /^contains no private key/],
    [{ certificate: key, key }, now, "certificate", /^contains no certificate/],
    [{ certificate: "", key: "" }, now, "certificate", /^contains no certificate/],
  ];
  for (const [pair, at, part, words] of cases) {
    assert.throws(
      () => checkPair(pair, at),
      (error: unknown) => {
        assert.ok(error instanceof PairError);
        assert.equal(error.part, part);
        assert.match(error.message, words);
        assert.ok(!error.message.includes(pair.key.split("\n")[1] ?? "no key"));
        return true;
      },
    );
  }
  assert.match(checkPair({ certificate, key }, now + 1000).subject, /^localhost, 127\.0\.0\.1$/);
});

test("a client that sends its hello byte by byte is disconnected at the end of the time limit", async (t) => {
  const { port } = await serve(t, undefined, 300);
  const socket = connectPlain({ port, host: "127.0.0.1" });
  socket.on("error", () => {});
  const closed = once(socket, "close");
  socket.resume();
  socket.write(Buffer.from("1603010200", "hex"));
  // Each byte comes well before a limit of silence would end the connection.
  let sent = 0;
  const drip = setInterval(() => {
    socket.write(Buffer.from([0]));
    sent++;
  }, 20);
  await closed;
  clearInterval(drip);
  assert.ok(sent < 512, "the connection ended before the record was complete");
});
