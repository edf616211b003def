// `store status`, `doctor` and `logs` beside running servers, and after a server was killed.
import assert from "node:assert/strict";
import { once } from "node:events";
import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type TestContext, test } from "node:test";
import { makeCertificate } from "../../support/certificate.ts";
import { temporaryDirectory } from "../../support/stores.ts";
import { createRunner, storeInProcess } from "../in-process.ts";
import { openShellWithBucket, outcomeOf, type Shell } from "../store.ts";

const script = `export default {
  fetch() { console.log("seen"); console.error("bad\\nline"); return new Response("ok"); },
};`;

interface Announced {
  readonly url: string | null;
  readonly console: { readonly url: string };
}

async function startServer(t: TestContext, shell: Shell, ...args: string[]) {
  const ports = ["port", "s3-port", "console-port", "public-port"].flatMap((name) => [`--${name}`, "0"]);
  const child = shell.start(["serve", "--json", ...ports, ...args]);
  const ended = outcomeOf(child);
  t.after(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  return { child, ended, announced: JSON.parse(line) as Announced };
}

interface StatusJson {
  readonly servers: readonly {
    readonly pid: number;
    readonly scripts: readonly string[];
    readonly ports: readonly { readonly name: string; readonly url: string }[];
  }[];
  readonly latestBackup: { readonly to: string } | null;
}

test("status, doctor and logs find a running server, and notice that it was killed", async (t) => {
  const shell = await openShellWithBucket(t);
  const { directory } = shell;
  const config = 'name = "web"\nmain = "web.js"\ncompatibility_date = "2026-01-01"\n';
  await writeFile(join(directory, "store.toml"), config);
  await writeFile(join(directory, "web.js"), script);
  const { certificate, key } = makeCertificate();
  await writeFile(join(directory, "cert.pem"), certificate);
  await writeFile(join(directory, "key.pem"), key, { mode: 0o600 });
  const store = (...args: string[]) => storeInProcess(directory, ...args);
  const status = async () => JSON.parse(await store("status", "--json")) as StatusJson;
  assert.deepEqual((await status()).servers, []);

  const { child, ended, announced } = await startServer(t, shell, "--request-log", "requests.log");
  const [server] = (await status()).servers;
  assert.equal(server?.pid, child.pid);
  assert.deepEqual(server?.scripts, ["web"]);
  assert.equal(server?.ports.find(({ name }) => name === "console")?.url, announced.console.url);
  assert.match(
    await store("doctor"),
    new RegExp(`^ok\tports\tThe server on .* answers: .*${announced.console.url}`, "m"),
  );

  assert.equal(await (await fetch(announced.url!)).text(), "ok");
  assert.match(await store("logs", "web"), /\tweb\tseen\n/);
  const lines = (await store("logs", "--json")).trimEnd().split("\n");
  assert.deepEqual(lines.map((line) => (JSON.parse(line) as { text: string }).text).sort(), [
    "bad",
    "line",
    "seen",
  ]);
  assert.match(await store("logs", "--requests"), /\t200\tscript\t/);
  assert.equal(await store("console", "list", "--json"), "[]\n", "the token of store logs is revoked");

  const { token } = JSON.parse(await store("console", "token", "--role", "viewer", "--json"));
  const elsewhere = createRunner({
    directory: await temporaryDirectory(t),
    environment: { AWS_ACCESS_KEY_ID: "a", AWS_SECRET_ACCESS_KEY: "b", STORE_CONSOLE_TOKEN: token },
  });
  const address = ["--endpoint", "http://127.0.0.1:1"];
  assert.match(await elsewhere.fails("logs", ...address), /^2: .*needs the console's API/);
  await elsewhere.store("profile", "add", "work", ...address, "--console", announced.console.url);
  assert.match(await elsewhere.store("logs", "web", "--profile", "work"), /\tweb\tseen\n/);
  assert.match(await elsewhere.fails("logs", "--requests", "--profile", "work"), /^2: .*files of a store/);
  for (const { id } of JSON.parse(await store("console", "list", "--json")))
    await store("console", "revoke", id);

  const following = shell.start(["logs", "--follow", "--json"]);
  const follower = createInterface(following.stdout)[Symbol.asyncIterator]();
  for (let seen = 0; seen < 3; seen++) await follower.next();
  await fetch(announced.url!);
  assert.equal((await follower.next()).done, false);
  following.kill("SIGINT");
  assert.equal((await once(following, "exit"))[1], "SIGINT");
  assert.equal(await store("console", "list", "--json"), "[]\n");

  child.kill("SIGKILL");
  await ended;
  assert.deepEqual((await status()).servers, []);
});

test("doctor reports the age of a backup, an expiring certificate and an open key with exit code 1", async (t) => {
  const shell = await openShellWithBucket(t);
  const { directory } = shell;
  await shell.store("key", "create");
  assert.equal((await shell.run(["object", "put", "photos/cat", "-"], { input: "meow" })).code, 0);
  const soon = makeCertificate({ until: Date.now() + 5 * 86_400_000 });
  await writeFile(join(directory, "cert.pem"), soon.certificate);
  await chmod(join(directory, ".store", "secret.key"), 0o644);
  const { code, stdout } = await shell.run(["doctor", "--tls-cert", "cert.pem"]);
  assert.equal(code, 1);
  assert.match(
    stdout,
    /^problem\tsecret key\tOther users may read secret\.key \(mode 644\)\.\tMake it private: chmod 600 /m,
  );
  assert.match(stdout, /^warning\tbackup\tNo backup was made yet/m);
  assert.match(stdout, /^warning\tcertificates\t.*for [45] more days/m);
  await chmod(join(directory, ".store", "secret.key"), 0o600);
  await shell.store("backup", "--to", join(await temporaryDirectory(t), "backup"));
  const after = await shell.run(["doctor", "--json"]);
  assert.equal(after.code, 0);
  const { findings } = JSON.parse(after.stdout) as { findings: { check: string; state: string }[] };
  assert.equal(findings.find(({ check }) => check === "backup")?.state, "ok");
  const missing = await shell.run(["doctor", "--data", "nowhere"]);
  assert.equal(missing.code, 1);
  assert.match(missing.stdout, /^problem\tstore\tThere is no data directory at "nowhere"/m);
});

test("missing permission is named as such, not as missing or damaged data", async (t) => {
  if (process.getuid?.() !== 0) return t.diagnostic("NOT TESTED: only root can run as another user.");
  const shell = await openShellWithBucket(t);
  await chmod(shell.directory, 0o755);
  const data = join(shell.directory, ".store");
  const asNobody = async (...args: string[]) => {
    const child = shell.start(args, { user: 65534 });
    child.stdin.end();
    return outcomeOf(child);
  };
  const closed = await asNobody("bucket", "list");
  assert.equal(closed.code, 1, closed.stdout);
  assert.match(
    closed.stderr,
    /Cannot open the data directory "\.store": permission is denied\.\n {2}It belongs to user 0/,
  );
  await chmod(data, 0o755);
  await chmod(join(data, "registry.db"), 0o644);
  const readOnly = await asNobody("bucket", "list");
  assert.equal(readOnly.code, 1, readOnly.stdout);
  assert.match(readOnly.stderr, /Cannot open the data directory "\.store": .*(read-only|permission)/);
});
