// The command line on a cluster with a PostgreSQL server and a blob directory.
import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type TestContext, test } from "node:test";
import { pathToFileURL } from "node:url";
import { openEngine } from "../../src/open.ts";
import { type Outcome, openShell, outcomeOf, type Shell } from "../cli/store.ts";
import { sampleBytes } from "../support/bytes.ts";
import { startS3Service } from "../support/s3-service.ts";
import { temporaryDirectory } from "../support/stores.ts";
import { useCluster } from "./scene.ts";

const cluster = useCluster();
const secretKey = "ab".repeat(32);

interface ClusterShell extends Shell {
  readonly environment: Readonly<Record<string, string>>;
  /** Runs a command on the cluster and fails if the command fails. */
  ok(...args: string[]): Promise<string>;
}

/** Creates a cluster without a schema. */
async function clusterShell(t: TestContext): Promise<ClusterShell> {
  const shell = await openShell(t);
  const environment = {
    STORE_RECORDS: await cluster.postgres().newDatabase(),
    STORE_BLOBS: pathToFileURL(await temporaryDirectory(t)).href,
  };
  return {
    ...shell,
    environment,
    async ok(...args) {
      const outcome = await shell.run(args, { environment: { ...environment, STORE_SECRET_KEY: secretKey } });
      assert.equal(outcome.code, 0, outcome.stderr);
      assertNoPassword(outcome);
      return outcome.stdout;
    },
  };
}

/** Checks that the output does not contain the database password of test/support/postgres.ts. */
function assertNoPassword({ stdout, stderr }: Pick<Outcome, "stdout" | "stderr">): void {
  assert.doesNotMatch(stdout + stderr, /unused/);
}

test("after store migrate, every command works on a cluster as on a directory", async (t) => {
  const shell = await clusterShell(t);
  const { environment } = shell;
  assert.match(await shell.fails(1, ["bucket", "list"], { environment }), /Run: store migrate/);
  const place = /postgres:\/\/127\.0\.0\.1:\d+\/store_\d+/;
  const made = JSON.parse(await shell.ok("migrate", "--json")) as {
    records: string;
    from: number;
    to: number;
  };
  assert.match(made.records, place);
  assert.equal(made.from, 0);
  const again = await shell.ok("migrate");
  assert.match(again, new RegExp(`^The tables in ${place.source} are up to date: version ${made.to}\\.\\n$`));

  await shell.ok("bucket", "create", "photos");
  await writeFile(join(shell.directory, "file"), sampleBytes(200_000));
  await shell.ok("object", "put", "photos/a", "file");
  assert.match(await shell.ok("object", "list", "photos"), /^200000\t.*\ta\n$/);
  assert.match(await shell.ok("verify"), /1 object, 200000 bytes\. No damage found\./);
  const message = await shell.fails(1, ["key", "create"], { environment });
  assert.match(message, /STORE_SECRET_KEY, which is not set/);
  assert.match(message, /openssl rand -hex 32/);
  await shell.ok("key", "create");
  await shell.ok("bucket", "delete", "photos", "--force");
});

test("store status and store doctor work on a cluster, before and after store migrate", async (t) => {
  const shell = await clusterShell(t);
  const environment = { ...shell.environment, STORE_SECRET_KEY: secretKey };
  const before = await shell.run(["doctor"], { environment });
  assert.equal(before.code, 1);
  assert.match(
    before.stdout,
    /^problem\tstore\t.* has no tables of Store yet\.\tCreate them: store migrate$/m,
  );
  assertNoPassword(before);
  await shell.ok("migrate");
  await shell.ok("bucket", "create", "photos");
  const checks = await shell.ok("doctor");
  for (const [check, what] of [
    ["store", "schema version"],
    ["clock", "agrees with PostgreSQL"],
    ["secret key", "STORE_SECRET_KEY holds the key"],
    ["backup", "empty"],
  ]) {
    assert.match(checks, new RegExp(`^ok\t${check}\t.*${what}`, "m"));
  }
  assert.match(await shell.ok("status"), /^buckets\t1$/m);
  const unset = await shell.run(["doctor"], { environment: shell.environment });
  assert.match(unset.stdout, /^problem\tsecret key\tSTORE_SECRET_KEY is not set/m);
  const records = "postgres://store:unused@127.0.0.1:1/store";
  const unreachable = await shell.run(["doctor"], {
    environment: { ...environment, STORE_RECORDS: records },
  });
  assert.equal(unreachable.code, 1);
  assert.match(unreachable.stdout, /^problem\tstore\tThe store cannot be read: .*\tCheck that PostgreSQL/m);
  assertNoPassword(unreachable);
});

test("store copy copies a store from a directory to a cluster and back", async (t) => {
  const shell = await clusterShell(t);
  const { environment } = shell;
  const { engine } = await openEngine(join(shell.directory, ".store"));
  await engine.createBucket("photos");
  await engine.put("photos", "small", sampleBytes(10));
  await engine.put("photos", "large", sampleBytes(300_000));
  await engine.close();
  await shell.store("key", "create");
  const unmade = await shell.fails(1, ["copy", "--from", ".store"], { environment });
  assert.match(unmade, /Cannot open the target, postgres:.* Run: store migrate/);
  await shell.ok("migrate");
  const copied = await shell.run(["copy", "--from", ".store"], { environment });
  assert.equal(copied.code, 0, copied.stderr);
  assert.match(
    copied.stdout,
    /^Copied 1 bucket, 2 objects, 300010 bytes; 2 objects copied in this run\. Both stores are identical\.\n$/,
  );
  assert.match(copied.stderr, /encrypted with the key in \.store\/secret\.key\. Set STORE_SECRET_KEY/);
  assertNoPassword(copied);
  const key = (await readFile(join(shell.directory, ".store", "secret.key"), "utf8")).trim();
  const listed = await shell.run(["key", "list"], { environment: { ...environment, STORE_SECRET_KEY: key } });
  assert.match(listed.stdout, /^STORE/);

  const records = environment.STORE_RECORDS!;
  const blobs = environment.STORE_BLOBS!;
  const back = await shell.store("copy", "--from", records, "--from-blobs", blobs, "--to", "back", "--json");
  const report = JSON.parse(back) as { kind: string; objects: number; differences: number };
  assert.deepEqual([report.kind, report.objects, report.differences], ["report", 2, 0]);
  assertNoPassword({ stdout: back, stderr: "" });
  const direct = await shell.store("copy", "--from", ".store", "--to", "back", "--verify");
  assert.match(direct, /Both stores are identical/);
});

test("store backup of a cluster makes a backup by way of a staging folder, which it updates", async (t) => {
  const shell = await clusterShell(t);
  await shell.ok("migrate");
  await shell.ok("bucket", "create", "photos");
  await writeFile(join(shell.directory, "file"), sampleBytes(200_000));
  await shell.ok("object", "put", "photos/a", "file");
  const args = ["backup", "--staging", "staging", "--to", "backup"];
  assert.match(await shell.ok(...args), /^Backed up 1 bucket, 1 object, 200000 bytes to backup/);
  await shell.ok("object", "put", "photos/b", "file");
  await shell.ok("object", "delete", "photos/a");
  assert.match(await shell.ok(...args), /^Backed up 1 bucket, 1 object, 200000 bytes to backup/);
  await shell.store("restore", "--from", "backup", "--data", "restored");
  assert.match(await shell.store("object", "list", "photos", "--data", "restored"), /^200000\t.*\tb\n$/);
  assert.match(await shell.ok("doctor"), /^ok\tbackup\tThe latest backup, to .*backup, is of the last 24 h/m);
  assert.match(await shell.ok("status"), /^latest backup\t.*backup$/m);
});

test("store restore restores a backup to an empty cluster in one step, and refuses any other", async (t) => {
  const shell = await clusterShell(t);
  await shell.store("bucket", "create", "photos");
  await writeFile(join(shell.directory, "file"), sampleBytes(200_000));
  await shell.store("object", "put", "photos/a", "file");
  await shell.store("key", "create");
  await shell.store("backup", "--to", "backup");
  const { environment } = shell;
  const args = ["restore", "--from", "backup"];
  const needs = await shell.fails(1, args, { environment });
  assert.match(needs, /a folder for a copy of the backup[\s\S]*--staging DIR/);
  args.push("--staging", "staging");
  const misplaced = await shell.fails(2, [...args, "--data", "other"]);
  assert.match(misplaced, /--staging is for the restore to a cluster[\s\S]*--records URL/);
  const staging = join(shell.directory, "staging");
  await mkdir(staging);
  await writeFile(join(staging, "foreign"), "");
  assert.match(await shell.fails(1, args, { environment }), /is not empty: it holds "foreign"/);
  await rm(staging, { recursive: true });
  await shell.fails(1, ["restore", "--from", "nothing", "--staging", "staging"], { environment });
  assert.ok(!existsSync(staging), "a refused restore leaves no trace");
  const restored = await shell.run(args, { environment });
  assert.equal(restored.code, 0, restored.stderr);
  assert.match(restored.stdout, /^Restored 1 bucket, 1 object, 200000 bytes to postgres:.*, as of 20/);
  assertNoPassword(restored);
  assert.match(restored.stderr, /encrypted with the key in staging\/secret\.key\. Set STORE_SECRET_KEY/);
  assert.deepEqual(await readdir(staging), ["secret.key"]);
  const key = (await readFile(join(staging, "secret.key"), "utf8")).trim();
  const listed = await shell.run(["key", "list"], { environment: { ...environment, STORE_SECRET_KEY: key } });
  assert.match(listed.stdout, /^STORE/);
  assert.match(await shell.ok("object", "list", "photos"), /^200000\t.*\ta\n$/);
  const again = ["restore", "--from", "backup", "--staging", "again"];
  assert.match(await shell.fails(1, again, { environment }), /already holds a copy of/);
  assert.ok(!existsSync(join(shell.directory, "again")));
});

test("an encrypted backup of a cluster on an S3 service is restored to another cluster", async (t) => {
  const shell = await clusterShell(t);
  const service = await startS3Service(t);
  const { username, password, host } = new URL(service.shelfUrl());
  const access = {
    AWS_ACCESS_KEY_ID: decodeURIComponent(username),
    AWS_SECRET_ACCESS_KEY: decodeURIComponent(password),
    STORE_SECRET_KEY: secretKey,
  };
  const url = `s3://${host}/${service.bucket}/store`;
  await shell.ok("migrate");
  await shell.ok("bucket", "create", "photos");
  await writeFile(join(shell.directory, "file"), sampleBytes(200_000));
  await shell.ok("object", "put", "photos/a", "file");
  await writeFile(join(shell.directory, "backup.key"), "cd".repeat(32), { mode: 0o600 });
  const key = ["--key-file", "backup.key"];
  const run = async (args: string[], environment: Readonly<Record<string, string>>) => {
    const outcome = await shell.run([...args, ...key], { environment: { ...environment, ...access } });
    assert.equal(outcome.code, 0, outcome.stderr);
    assertNoPassword(outcome);
    return outcome.stdout;
  };
  await run(["backup", "--staging", "staging", "--to", url], shell.environment);
  const other = {
    STORE_RECORDS: await cluster.postgres().newDatabase(),
    STORE_BLOBS: pathToFileURL(await temporaryDirectory(t)).href,
  };
  const restored = await run(["restore", "--from", url, "--staging", "second"], other);
  assert.match(restored, /^Restored 1 bucket, 1 object, 200000 bytes to postgres:/);
  const { STORE_RECORDS, STORE_BLOBS } = other;
  const compare = ["copy", "--to", STORE_RECORDS, "--to-blobs", STORE_BLOBS, "--verify"];
  const { STORE_RECORDS: from, STORE_BLOBS: fromBlobs } = shell.environment;
  const same = await shell.store(...compare, "--from", from!, "--from-blobs", fromBlobs!);
  assert.match(same, /Both stores are identical/);
});

test("store dev on a cluster serves scripts and the S3 API, and prints no password", async (t) => {
  const shell = await clusterShell(t);
  await shell.ok("migrate");
  await writeFile(
    join(shell.directory, "store.json"),
    JSON.stringify({
      ...{ name: "app", main: "index.js", compatibility_date: "2026-11-01" },
      store_buckets: [{ binding: "PHOTOS", bucket_name: "photos" }],
      ...{ blobs: shell.environment.STORE_BLOBS, reads: "strict" },
    }),
  );
  await writeFile(
    join(shell.directory, "index.js"),
    `export default { async fetch(request, env) {
      await env.PHOTOS.put("a", request.body);
      return new Response(await (await env.PHOTOS.get("a")).text());
    } };`,
  );
  const environment = { STORE_RECORDS: shell.environment.STORE_RECORDS!, STORE_SECRET_KEY: secretKey };
  const args = ["dev", "--port", "0", "--s3-port", "0", "--console-port", "0", "--create-buckets", "--json"];
  const child = shell.start(args, { environment });
  child.stdin.end();
  const ended = outcomeOf(child);
  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  const announced = JSON.parse(line) as { url: string; s3: { url: string }; data: { records: string } };
  assert.match(announced.data.records, /^postgres:\/\/127\.0\.0\.1:\d+\/store_\d+$/);
  try {
    const response = await fetch(announced.url, { method: "PUT", body: "Hello, cluster!" });
    assert.equal(await response.text(), "Hello, cluster!");
    assert.equal((await fetch(`${announced.s3.url}/photos`)).status, 403);
    assert.equal(await shell.ok("object", "get", "photos/a"), "Hello, cluster!");
  } finally {
    child.kill("SIGTERM");
  }
  const outcome = await ended;
  assert.equal(outcome.code, 0, outcome.stderr);
  assertNoPassword(outcome);
});

test("a command on a cluster without the PostgreSQL driver prints how to install it", async (t) => {
  const shell = await clusterShell(t);
  const hook = `export async function resolve(name, context, next) {
    if (name !== "pg") return next(name, context);
    throw Object.assign(new Error("Cannot find package 'pg'"), { code: "ERR_MODULE_NOT_FOUND" });
  }`;
  await writeFile(join(shell.directory, "hook.mjs"), hook);
  const register = `import { register } from "node:module"; register("./hook.mjs", import.meta.url);`;
  await writeFile(join(shell.directory, "register.mjs"), register);
  const NODE_OPTIONS = `--import ${pathToFileURL(join(shell.directory, "register.mjs")).href}`;
  const message = await shell.fails(1, ["bucket", "list"], {
    environment: { ...shell.environment, NODE_OPTIONS },
  });
  assert.match(message, /Run: npm install pg/);
});
