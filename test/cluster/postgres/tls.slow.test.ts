// TLS to the services of a cluster: it is the default except on loopback, never falls back to plain
// text, and errors name the option to set.
import assert from "node:assert/strict";
import { chownSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { openBlobBackend } from "../../../src/cluster/open-backend.ts";
import { openConnection } from "../../../src/cluster/postgres/connection.ts";
import { createPrimary } from "../../../src/cluster/postgres/primary.ts";
import { parsePostgresUrl, resolveTls } from "../../../src/cluster/postgres/url.ts";
import { makeCertificate } from "../../support/certificate.ts";
import { type Postgres, startPostgres } from "../../support/postgres.ts";
import { startS3Service } from "../../support/s3-service.ts";

const soon = () => Date.now() + 10_000;

test("a database connection uses TLS except on a loopback address, and sslmode overrides it", () => {
  const encrypted = { rejectUnauthorized: false, checksName: false };
  const tlsOf = (url: string) => {
    const address = parsePostgresUrl(url);
    return address.hosts.map(({ host }) => resolveTls(address, host));
  };
  assert.deepEqual(tlsOf("postgres://u:p@db1,127.0.0.1,[::1],10.0.0.7,localhost/x"), [
    encrypted,
    undefined,
    undefined,
    encrypted,
    undefined,
  ]);
  assert.deepEqual(tlsOf("postgres://u:p@db1/x?sslmode=disable"), [undefined]);
  assert.deepEqual(tlsOf("postgres://u:p@localhost/x?sslmode=require"), [encrypted]);
  const full = { rejectUnauthorized: true, checksName: true };
  assert.deepEqual(tlsOf("postgres://u:p@db1/x?sslmode=verify-full"), [full]);
  assert.deepEqual(tlsOf("postgres://u:p@db1/x?sslmode=verify-ca"), [{ ...full, checksName: false }]);
});

let plain: Postgres;
let secured: Postgres;
let folder: string;
let authority: string;
let stranger: string;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), "store-test-"));
  const write = (name: string, text: string) => {
    const file = join(folder, name);
    writeFileSync(file, text, { mode: 0o600 });
    // When the tests run as root, the server runs as the user "nobody".
    if (process.getuid?.() === 0) chownSync(file, 65_534, 65_534);
    return file;
  };
  if (process.getuid?.() === 0) chownSync(folder, 65_534, 65_534);
  const { certificate, key } = makeCertificate();
  authority = write("server.pem", certificate);
  stranger = write("other.pem", makeCertificate().certificate);
  const files = [`ssl_cert_file=${authority}`, `ssl_key_file=${write("server.key", key)}`];
  [plain, secured] = await Promise.all([startPostgres(), startPostgres("ssl=on", ...files)]);
});
after(async () => {
  await Promise.all([plain?.stop(), secured?.stop()]);
  rmSync(folder, { recursive: true, force: true });
});

async function isEncrypted(url: string): Promise<unknown> {
  const address = parsePostgresUrl(url);
  const connection = await openConnection(address, address.hosts[0]!, { generation: 0, until: soon() });
  try {
    const text = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
    const [[ssl] = []] = await connection.run(text, undefined, soon());
    return ssl;
  } finally {
    connection.end();
  }
}

test("a database without TLS is refused immediately, with a message that lists the options", async () => {
  const url = await plain.newDatabase();
  const primary = createPrimary(parsePostgresUrl(`${url}?sslmode=require`));
  await assert.rejects(
    primary.connect(Date.now() + 60_000),
    /does not support TLS\. Turn it on there \(ssl = on\), or add \?sslmode=disable to the database URL/,
  );
  assert.equal(await isEncrypted(url), false, "on loopback the default is no TLS");
});

test("a database with TLS can be used in every sslmode, and the verify modes check its certificate", async () => {
  const url = (await secured.newDatabase()).replace("127.0.0.1", "localhost");
  assert.equal(await isEncrypted(`${url}?sslmode=require`), true);
  assert.equal(await isEncrypted(`${url}?sslmode=verify-full&sslrootcert=${authority}`), true);
  assert.equal(await isEncrypted(`${url}?sslrootcert=${authority}`), true);
  const byAddress = url.replace("localhost", "127.0.0.1");
  assert.equal(await isEncrypted(`${byAddress}?sslmode=verify-full&sslrootcert=${authority}`), true);
  const refused = /The certificate of the database at localhost:\d+ is not trusted.*sslrootcert=/;
  for (const options of [
    "sslmode=verify-full",
    "sslmode=verify-ca",
    `sslmode=require&sslrootcert=${stranger}`,
  ]) {
    await assert.rejects(isEncrypted(`${url}?${options}`), refused, options);
  }
});

test("an S3 service without TLS is refused immediately, with a message that lists the options", async (t) => {
  const service = await startS3Service(t);
  await assert.rejects(
    openBlobBackend(`${service.shelfUrl()}?tls=true`, { marker: "make" }),
    /does not speak TLS on this port: use its TLS port, or add \?tls=false after the bucket/,
  );
  const backend = await openBlobBackend(`${service.shelfUrl()}?tls=false`, { marker: "make" });
  await backend.close();
});
