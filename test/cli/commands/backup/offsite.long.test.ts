// `store backup --to s3://…`, `store backup list` and `store restore --from s3://…`: messages, JSON,
// keys and refusals.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { openEngine } from "../../../../src/open.ts";
import { sampleBytes } from "../../../support/bytes.ts";
import { startS3Service } from "../../../support/s3-service.ts";
import { contentsOf, openShell, type Shell } from "../../store.ts";

interface Scene {
  readonly shell: Shell;
  readonly url: string;
  readonly environment: Readonly<Record<string, string>>;
}

async function openScene(t: TestContext): Promise<Scene> {
  const shell = await openShell(t);
  const { engine } = await openEngine(join(shell.directory, ".store"));
  await engine.createBucket("photos");
  await engine.put("photos", "large", sampleBytes(200_000));
  await engine.close();
  const service = await startS3Service(t);
  const { username, password, host } = new URL(service.shelfUrl());
  const environment = {
    AWS_ACCESS_KEY_ID: decodeURIComponent(username),
    AWS_SECRET_ACCESS_KEY: decodeURIComponent(password),
  };
  return { shell, environment, url: `s3://${host}/${service.bucket}/store` };
}

test("backup, list, verify and restore with an S3 service print reports, as text and as JSON", async (t) => {
  const { shell, url, environment } = await openScene(t);
  const run = async (...args: string[]) => {
    const outcome = await shell.run(args, { environment });
    assert.equal(outcome.code, 0, outcome.stderr);
    return outcome;
  };
  const first = await run("backup", "--to", url);
  const [, name = ""] = /^Backup (\S+); 1 backup there\.$/m.exec(first.stdout) ?? [];
  const summary = "1 bucket, 1 object, 200000 bytes";
  const copied = "1 file (200000 bytes) copied, 0 already there";
  assert.ok(first.stdout.startsWith(`Backed up ${summary} to ${url}: ${copied}.\n`), first.stdout);
  assert.match(first.stderr, /not encrypted/);
  const second = JSON.parse((await run("backup", "--to", url, "--keep", "1d", "--json")).stdout);
  assert.deepEqual(
    [second.to, second.copiedFiles, second.keptBackups, second.removedBackups, second.isEncrypted],
    [url, 0, 1, 1, false],
  );
  const listed = JSON.parse((await run("backup", "list", "--from", url, "--json")).stdout);
  assert.deepEqual(
    listed.map(({ backup }: { backup: string }) => backup),
    [second.backup],
  );
  assert.notEqual(second.backup, name);
  assert.ok((await run("backup", "list", "--from", url)).stdout.includes(second.backup));
  assert.match(
    (await run("restore", "--from", url, "--verify")).stdout,
    /200000 bytes\. No damage found\.\n$/,
  );
  await run("restore", "--from", url, "--data", "a/.store", "--backup", second.backup);
  assert.deepEqual(await contentsOf(join(shell.directory, "a")), await contentsOf(shell.directory));
  const last = JSON.parse(await readFile(join(shell.directory, ".store", "last-backup.json"), "utf8"));
  assert.deepEqual([last.to, last.bytes], [url, 200_000]);
});

test("an encrypted backup needs its key file or its passphrase", async (t) => {
  const { shell, url, environment } = await openScene(t);
  const file = join(shell.directory, "backup.key");
  await writeFile(file, "ab".repeat(32), { mode: 0o644 });
  const withFile = ["backup", "--to", url, "--key-file", "backup.key"];
  assert.match(await shell.fails(1, withFile, { environment }), /Other users can access[\s\S]*chmod 600/);
  await writeFile(join(shell.directory, "short.key"), "abc", { mode: 0o600 });
  const short = ["backup", "--to", url, "--key-file", "short.key"];
  assert.match(await shell.fails(1, short, { environment }), /does not contain a key/);
  await writeFile(join(shell.directory, "private.key"), "ab".repeat(32), { mode: 0o600 });
  const made = await shell.run(["backup", "--to", url, "--key-file", "private.key"], { environment });
  assert.equal(made.code, 0, made.stderr);
  assert.doesNotMatch(made.stderr, /not encrypted/);
  const restore = ["restore", "--from", url, "--data", "back"];
  assert.match(await shell.fails(1, restore, { environment }), /are encrypted[\s\S]*--key-file/);
  const listed = await shell.run(["backup", "list", "--from", url, "--key-file", "private.key"], {
    environment,
  });
  assert.equal(listed.code, 0, listed.stderr);

  const phrases = `${url}-phrase`;
  const encrypt = ["backup", "--to", phrases, "--encrypt"];
  assert.match(await shell.fails(1, encrypt, { environment, input: "short\n" }), /too short/);
  assert.match(await shell.fails(1, encrypt, { environment }), /passphrase is missing/);
  const fromInput = await shell.run(encrypt, { environment, input: "correct horse battery\n" });
  assert.equal(fromInput.code, 0, fromInput.stderr);
  const from = ["restore", "--from", phrases, "--data", "back"];
  const wrong = { environment: { ...environment, STORE_BACKUP_PASSPHRASE: "another passphrase" } };
  assert.match(await shell.fails(1, from, wrong), /passphrase does not open .*wrong/);
  assert.match(await shell.fails(1, from, { environment }), /STORE_BACKUP_PASSPHRASE/);
  assert.ok(!existsSync(join(shell.directory, "back")));
  const right = { environment: { ...environment, STORE_BACKUP_PASSPHRASE: "correct horse battery" } };
  assert.equal((await shell.run(from, right)).code, 0);
});

test("wrong addresses, rights, keys and options are refused with the cure, and nothing is changed", async (t) => {
  const { shell, url, environment } = await openScene(t);
  const service = new URL(url).host;
  const unused = await unusedPort();
  const wrongSecret = { ...environment, AWS_SECRET_ACCESS_KEY: "wrong" };
  const unknown = { ...environment, AWS_ACCESS_KEY_ID: "STOREAAAAAAAAAAAAAAA" };
  const bad: [1 | 2, string[], Record<string, string>, RegExp][] = [
    [
      1,
      ["backup", "--to", `s3://${service}/nowhere/x`],
      environment,
      /bucket "nowhere".*does not exist[\s\S]*Create the/,
    ],
    [
      1,
      ["backup", "--to", `s3://127.0.0.1:${unused}/b/x`],
      environment,
      /cannot be reached[\s\S]*Check the address/,
    ],
    [1, ["backup", "--to", url], wrongSecret, /SignatureDoesNotMatch[\s\S]*AWS_SECRET_ACCESS_KEY/],
    [1, ["backup", "--to", url], unknown, /InvalidAccessKeyId[\s\S]*AWS_ACCESS_KEY_ID/],
    [
      1,
      ["restore", "--from", url, "--data", "back"],
      environment,
      /There are no backups[\s\S]*store backup --to/,
    ],
    [1, ["backup", "list", "--from", url], environment, /There are no backups/],
    [2, ["backup", "--to", url], {}, /no access key[\s\S]*AWS_ACCESS_KEY_ID/],
    [2, ["backup", "--to", "s3://key:secret@host/b"], {}, /must not contain an access key/],
    [2, ["backup", "--to", "s3://bucket/prefix"], environment, /no S3 service[\s\S]*AWS_ENDPOINT_URL/],
    [2, ["backup", "--to", `s3://${service}`], environment, /not valid: there is no bucket/],
    [2, ["backup", "--to", `${url}?colour=red`], environment, /only "region" and "tls"/],
    [2, ["backup", "--to", "gs://bucket/x"], environment, /a folder or s3:.*not a URL/],
    [2, ["backup", "--to", url, "--keep", "lots"], environment, /7d,4w,12m/],
    [2, ["backup", "--to", "dir", "--keep", "7d"], {}, /--keep only works with an S3 service/],
    [2, ["backup", "--to", "dir", "--encrypt"], {}, /--encrypt only works with an S3 service/],
    [2, ["restore", "--from", "dir", "--at", "1d"], {}, /--at only works with an S3 service/],
    [2, ["restore", "--from", url, "--at", "1d", "--backup", "x"], environment, /--at or --backup/],
    [2, ["restore", "--from", url, "--at", "soon"], environment, /--at needs a time/],
    [2, ["backup", "list", "--from", "dir"], {}, /works with an S3 service/],
    [2, ["backup", "--from", url], environment, /--from only works with/],
    [2, ["backup", "list"], environment, /needs a folder or an S3 service/],
    [2, ["backup", "remove", "--to", url], environment, /does not expect "remove"/],
    [
      1,
      ["backup", "--to", url, "--records", "postgres://h/d", "--blobs", "file:///b"],
      environment,
      /cluster[\s\S]*--staging DIR/,
    ],
  ];
  for (const [code, args, variables, message] of bad)
    assert.match(await shell.fails(code, args, { environment: variables }), message, args.join(" "));
  for (const name of ["back", "dir", "s3:"]) assert.ok(!existsSync(join(shell.directory, name)), name);
});

test("AWS_ENDPOINT_URL completes an address that begins with the bucket", async (t) => {
  const { shell, url, environment } = await openScene(t);
  const { host } = new URL(url);
  const variables = { ...environment, AWS_ENDPOINT_URL: `http://${host}` };
  const made = await shell.run(["backup", "--to", "s3://shelf/other", "--json"], { environment: variables });
  assert.equal(made.code, 0, made.stderr);
  assert.equal(JSON.parse(made.stdout).to, `s3://${host}/shelf/other`);
});

async function unusedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}
