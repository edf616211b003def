// `store dev` and `store serve` with TLS and behind a proxy: TLS on every port, reload of
// certificates, and forwarded headers of trusted proxies.
import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { Agent } from "node:https";
import { join } from "node:path";
import { test } from "node:test";
import { GetObjectCommand, PutObjectCommand } from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { openTls } from "../../../src/cli/serve/tls.ts";
import { type SecureAnswer, secureClient } from "../../http/tls/client.ts";
import { type S3Scene, s3Scene } from "../../s3/scene.ts";
import { until } from "../../script/inside.ts";
import { scriptScene, writeScript } from "../../script/scene.ts";
import { makeCertificate } from "../../support/certificate.ts";
import { temporaryDirectory } from "../../support/stores.ts";
import { assertRefused } from "../refusals.ts";
import { filesIn, openShell } from "../store.ts";

const names = [
  "x-forwarded-for",
  "x-forwarded-proto",
  "x-forwarded-host",
  "forwarded",
  "cf-connecting-ip",
  "x-real-ip",
];
/** A script that returns its request's URL and forwarded headers, or a presigned URL. */
const source = `export default {
  async fetch({ url, headers }, env) {
    const key = new URL(url).searchParams.get("presign");
    if (key !== null) return new Response(await env.BUCKET.presign(key));
    return Response.json({ url, told: ${JSON.stringify(names)}.map((name) => headers.get(name)) });
  },
};`;

/** Headers that a client or a proxy may send about the client. */
const written = {
  ...{ "x-forwarded-for": "1.1.1.1", "x-forwarded-proto": "http", "x-forwarded-host": "a.example" },
  ...{ forwarded: "for=6.6.6.6", "cf-connecting-ip": "6.6.6.6", "x-real-ip": "6.6.6.6" },
};

const seen = (url: string, scheme: string, address: string) => ({
  url,
  told: [address, scheme, null, null, address, address],
});

interface Files {
  readonly args: readonly string[];
  write(pair: ReturnType<typeof makeCertificate>): Promise<void>;
}

function filesOf(directory: string): Files {
  const [cert, key] = [join(directory, "cert.pem"), join(directory, "key.pem")];
  return {
    args: ["--tls-cert", cert, "--tls-key", key],
    async write(pair) {
      await writeFile(cert, pair.certificate);
      await writeFile(key, pair.key, { mode: 0o600 });
    },
  };
}

/** Requests an S3 URL that was signed for another host name than the listening address. */
async function throughProxy(s3: S3Scene, certificate: string): Promise<SecureAnswer> {
  const outside = s3.client(undefined, { endpoint: "https://s3.example.com" });
  const signed = new URL(await getSignedUrl(outside, new GetObjectCommand({ Bucket: "bucket", Key: "x" })));
  const client = secureClient(Number(new URL(s3.url).port), certificate);
  return client.ask(`${signed.pathname}${signed.search}`, { "x-forwarded-host": "s3.example.com" });
}

test("serve uses TLS on all ports, trusts its proxy, and reloads the certificate on SIGHUP", async (t) => {
  const files = filesOf(await temporaryDirectory(t));
  const [first, second] = [makeCertificate(), makeCertificate()];
  await files.write(first);
  const s3 = await s3Scene(t, "serve", [...files.args, "--trust-proxy", "10.0.0.0/8, 127.0.0.0/8"], source);
  const { server } = s3;
  const s3Port = Number(new URL(s3.url).port);
  assert.match(s3.url, /^https:/);
  assert.equal(server.announced.url, `https://127.0.0.1:${server.port}/`);
  // Use a new connection per request: a slow process may be replaced, which closes its connections.
  const ask = (path: string, headers = {}) => secureClient(server.port, first.certificate).ask(path, headers);
  const own = await ask("/a");
  assert.deepEqual(JSON.parse(own.text), seen(`${server.announced.url}a`, "https", "127.0.0.1"));
  const told = await ask("/b", written);
  assert.deepEqual(JSON.parse(told.text), seen("http://a.example/b", "http", "1.1.1.1"));

  const agent = new Agent({ ca: first.certificate });
  t.after(() => agent.destroy());
  const client = s3.client(undefined, { requestHandler: { httpsAgent: agent } });
  const body = Buffer.alloc(3_000_000, "Hello, world! ");
  await client.send(new PutObjectCommand({ Bucket: "bucket", Key: "x", Body: body }));
  const { Body } = await client.send(new GetObjectCommand({ Bucket: "bucket", Key: "x" }));
  assert.deepEqual(Buffer.from(await Body!.transformToByteArray()), body);
  const url = new URL((await ask("/?presign=x")).text);
  assert.equal(url.origin, s3.url, "scripts sign https URLs");
  const presigned = await secureClient(s3Port, first.certificate).ask(`${url.pathname}${url.search}`);
  assert.equal(presigned.text, body.toString());
  assert.equal((await throughProxy(s3, first.certificate)).text, body.toString());

  await files.write({ ...second, key: first.key });
  process.kill(server.pid, "SIGHUP");
  const [why] = await server.told(/The certificate was not reloaded.*/);
  assert.match(why, /The private key in .*key\.pem does not belong to the certificate\./);
  await files.write(second);
  process.kill(server.pid, "SIGHUP");
  await server.told(/Reloaded the certificate for localhost, 127\.0\.0\.1, valid until /);
  const consolePort = Number(new URL(server.announced.console.url).port);
  for (const port of [server.port, s3Port, consolePort]) {
    const met = () => secureClient(port, second.certificate).ask("/");
    await until(async () => {
      const answer = await met().catch(() => undefined);
      return answer?.fingerprint === new X509Certificate(second.certificate).fingerprint256;
    }, "the new certificate is used");
  }
  const { code } = await server.stop();
  assert.equal(code, 0);
  for (const { key } of [first, second])
    assert.ok(!server.log().includes(key.split("\n")[1]!), "the log contains no private key");
});

test("dev with a certificate uses TLS, and ignores forwarded headers of untrusted clients", async (t) => {
  const files = filesOf(await temporaryDirectory(t));
  const pair = makeCertificate();
  await files.write(pair);
  const s3 = await s3Scene(t, "dev", [...files.args, "--trust-proxy", "10.0.0.0/8"], source);
  const client = secureClient(s3.server.port, pair.certificate);
  const { text } = await client.ask("/a", written);
  assert.deepEqual(JSON.parse(text), seen(`${s3.server.announced.url}a`, "https", "127.0.0.1"));
  assert.match((await s3.server.ask("/")).text, /This port speaks HTTPS/);
  const refused = await throughProxy(s3, pair.certificate);
  assert.match(refused.text, /SignatureDoesNotMatch/);
});

test("X-Forwarded-Host of a trusted proxy selects the script", async (t) => {
  const scene = await scriptScene(t, source, 'routes = ["a.example/*"]');
  const second = await writeScript(scene, { name: "second", source: "export default {};" });
  const configs = ["store.toml", second];
  const server = await scene.start("serve", { configs, args: ["--trust-proxy", "127.0.0.1"] });
  const { text } = await server.ask({ path: "/x", headers: written });
  assert.deepEqual(JSON.parse(text), seen("http://a.example/x", "http", "1.1.1.1"));
});

test("changed certificate files are reloaded; an invalid certificate is logged once and not used", async (t) => {
  const directory = await temporaryDirectory(t);
  const files = filesOf(directory);
  const first = makeCertificate();
  await files.write(first);
  const told: string[] = [];
  const paths = { certificate: files.args[1]!, key: files.args[3]! };
  const tls = await openTls(paths, { log: (line) => told.push(line), pollEveryMilliseconds: 10 });
  t.after(() => tls.close());
  const second = makeCertificate();
  await writeFile(paths.certificate, second.certificate);
  await until(() => told.length > 0, "the invalid pair is logged");
  assert.match(told[0]!, /^The certificate was not reloaded.*does not belong to the certificate\.$/);
  assert.equal(tls.source.current().certificate, first.certificate);
  await writeFile(paths.key, second.key);
  await until(() => tls.source.current().certificate === second.certificate, "the new pair is used");
  assert.deepEqual(
    told.slice(1).map((line) => /^Reloaded the certificate for localhost/.test(line)),
    [true],
  );
});

test("an unusable certificate is reported before a port or the data directory is opened", async (t) => {
  const shell = await openShell(t);
  const files = filesOf(shell.directory);
  const now = Date.now();
  await files.write(makeCertificate({ from: now - 2 * 86_400_000, until: now - 86_400_000 }));
  const before = await filesIn(shell.directory);
  const missing = ["--tls-cert", "missing.pem", "--tls-key", "key.pem"];
  await assertRefused(shell, 1, [
    [["serve", ...files.args], "The certificate in", "cert.pem has expired, on "],
    [["serve", ...missing], "Cannot read the certificate", "missing.pem", "no such file"],
  ]);
  await assertRefused(shell, 2, [
    [["serve", "--tls-cert", "cert.pem"], "--tls-cert needs its private key: --tls-key FILE"],
    [["serve", "--tls-key", "key.pem"], "--tls-key needs its certificate: --tls-cert FILE"],
    [
      ["serve", "--trust-proxy", "proxy.example"],
      '--trust-proxy: "proxy.example" is not an address or a network',
    ],
    [["serve", "--node-internals", "maybe"], '--node-internals must be "on" or "off", not "maybe".'],
  ]);
  assert.deepEqual(await filesIn(shell.directory), before);
});
