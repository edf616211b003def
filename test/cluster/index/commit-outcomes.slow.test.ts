// Commits with a lost response, and an unavailable database: acknowledged changes exist, refused
// changes are never applied, and no restart is needed.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Records } from "../../../src/engine/records.ts";
import { startFaultProxy } from "../../support/fault-proxy.ts";
import { inline, putObject, randomHex } from "../../support/samples.ts";
import { commitWaits, lingerBeforeTheEnd, through, until, useCluster } from "../scene.ts";

const cluster = useCluster();
const bucket = "bucket";
const bucketRecord = { name: bucket, created: 0, storageClass: "Standard", account: "default" } as const;
/** Timeout of commits in milliseconds, long enough for a slow machine. */
const timeout = 3000;
const unavailable = { name: "StoreError", reason: "ServiceUnavailable" };

test("a commit whose connection broke is applied once, and its delayed statement has no effect", async (t) => {
  const scene = await cluster.scene(t);
  const proxy = await startFaultProxy(t, cluster.postgres().port);
  const { records } = await scene.open({}, { records: through(scene.location.records, proxy.port) });
  await records.createBucket(bucketRecord);
  await records.commit(bucket, { mutations: [putObject("a", inline("first"))] });
  const version = randomHex();
  await scene.ask("BEGIN");
  await scene.ask("SELECT 1 FROM store.objects FOR UPDATE");
  const commit = records.commit(bucket, { mutations: [putObject("a", inline("second"), version)] });
  await commitWaits(scene);
  // This cuts all connections. On the server, the statement continues to wait for the lock.
  proxy.planAlways(undefined);
  const fenced = "SELECT count(*) FROM store.sessions WHERE is_fenced";
  await until(async () => Number((await scene.ask(fenced))[0]![0]) > 0, "its session is fenced");
  await scene.ask("COMMIT");
  assert.equal(await commit, "committed");
  await records.commit(bucket, { mutations: [putObject("a", inline("third"))] });
  const third = (await records.object(bucket, "a"))!.version;
  const active =
    "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'store' AND state = 'active'";
  await until(async () => Number((await scene.ask(active))[0]![0]) === 0, "the late statement has ended");
  assert.equal((await records.object(bucket, "a"))!.version, third);
});

test("a commit whose response was lost is acknowledged and applied only once", async (t) => {
  const scene = await cluster.scene(t);
  const proxy = await startFaultProxy(t, cluster.postgres().port);
  const { records } = await scene.open({}, { records: through(scene.location.records, proxy.port) });
  await records.createBucket(bucketRecord);
  const letGo = await lingerBeforeTheEnd(scene);
  const change = { checks: [missing("a")], mutations: [putObject("a", inline("only"))] };
  const commit = records.commit(bucket, change);
  await commitWaits(scene);
  proxy.planAlways(undefined);
  await letGo();
  // If the commit had been applied twice, the second attempt would return a conflict.
  assert.equal(await commit, "committed");
  assert.equal(await records.commit(bucket, change), "conflict");
});

function missing(key: string) {
  return { kind: "object", key, version: undefined } as const;
}

test("a commit that could not be sent fails with an error marked as notDone", async (t) => {
  const scene = await cluster.scene(t);
  const proxy = await startFaultProxy(t, cluster.postgres().port);
  const away = { records: through(scene.location.records, proxy.port) };
  const { records } = await scene.open({ timeout }, away);
  await records.createBucket(bucketRecord);
  await proxy.refuse();
  // The first commit fails on its broken connection; the next has no connection at all.
  await assert.rejects(records.commit(bucket, { mutations: [putObject("a")] }), unavailable);
  const late = records.commit(bucket, { mutations: [putObject("late")] });
  await assert.rejects(late, { ...unavailable, isNotDone: true });
  await proxy.accept();
});

test("an unavailable database is reported within the timeout, and works again without a restart", async (t) => {
  const scene = await cluster.scene(t);
  const proxy = await startFaultProxy(t, cluster.postgres().port);
  const away = { records: through(scene.location.records, proxy.port) };
  const { records } = await scene.open({ timeout }, away);
  await records.createBucket(bucketRecord);
  const everything = [
    () => records.bucket("another"),
    () => records.object(bucket, "a"),
    () => records.commit(bucket, { mutations: [putObject("a")] }),
    () => records.documents.get("kind", "name"),
  ];
  for (const leave of [() => proxy.refuse(), async () => proxy.planAlways({ kind: "silent" })]) {
    await leave();
    await Promise.all(everything.map((ask) => assert.rejects(ask, unavailable)));
    proxy.planAlways(undefined);
    await proxy.refuse();
    await proxy.accept();
    for (const ask of everything) await eventually(ask);
  }
});

test("a store whose database has been unavailable for long closes quickly", async (t) => {
  const scene = await cluster.scene(t);
  const proxy = await startFaultProxy(t, cluster.postgres().port);
  const away = { records: through(scene.location.records, proxy.port) };
  const { records, blobs } = await scene.open({ timeout, heartbeatMilliseconds: 1 }, away);
  await proxy.refuse();
  // By now many heartbeats are due, and each would wait for its timeout.
  await assert.rejects(() => records.object(bucket, "a"), unavailable);
  const began = Date.now();
  await records.close();
  await blobs.close();
  assert.ok(Date.now() - began < 60 * timeout, `closed after ${Date.now() - began} ms`);
});

/** Retries until the call succeeds, since operations that hung may still fail. */
async function eventually(ask: () => Promise<unknown>): Promise<void> {
  const answers = async () => {
    try {
      await ask();
      return true;
    } catch {
      return false;
    }
  };
  await until(answers, "the database responds again");
}

test("after a PostgreSQL server is killed under load and restarted, it has every acknowledged change", async (t) => {
  const scene = await cluster.scene(t);
  const { records } = await scene.open({ timeout: 60_000 });
  await records.createBucket(bucketRecord);
  const acknowledged = new Map<string, string>();
  let isOver = false;
  const writers = Array.from({ length: 8 }, async (_, writer) => {
    for (let i = 0; !isOver; i++) {
      const [key, version] = [`${writer}/${i % 10}`, randomHex()];
      const outcome = await records.commit(bucket, { mutations: [putObject(key, inline(key), version)] });
      assert.equal(outcome, "committed");
      acknowledged.set(key, version);
    }
  });
  for (let round = 0; round < 3; round++) {
    const before = [...acknowledged.values()];
    await until(
      async () => [...acknowledged.values()].every((version) => !before.includes(version)),
      "writes",
    );
    await cluster.postgres().kill();
    await cluster.postgres().start();
  }
  isOver = true;
  await Promise.all(writers);
  await assertHas(records, acknowledged);
});

async function assertHas(records: Records, acknowledged: ReadonlyMap<string, string>): Promise<void> {
  assert.ok(acknowledged.size > 0);
  for (const [key, version] of acknowledged) {
    assert.equal((await records.object(bucket, key))?.version, version, key);
  }
}

test("a strict read confirms the primary with a commit; a default read does not", async (t) => {
  const scene = await cluster.scene(t);
  const strict = await scene.open({ timeout }, { reads: "strict" });
  const usual = await scene.open();
  await strict.records.createBucket(bucketRecord);
  await strict.records.commit(bucket, { mutations: [putObject("a")] });
  assert.equal((await strict.records.object(bucket, "a"))?.key, "a");
  // No standby has this name, so no commit is confirmed, as on a demoted primary.
  await scene.ask("ALTER SYSTEM SET synchronous_standby_names = 'nobody'");
  await scene.ask("SELECT pg_reload_conf()");
  const isHeld = async () => {
    try {
      await strict.records.object(bucket, "a");
      return false;
    } catch (error) {
      assert.equal((error as { reason?: string }).reason, "ServiceUnavailable");
      return true;
    }
  };
  await until(isHeld, "the setting is active");
  assert.equal((await usual.records.object(bucket, "a"))?.key, "a");
  const reads = Array.from({ length: 20 }, () => strict.records.object(bucket, "a"));
  for (const read of await Promise.allSettled(reads)) assert.equal(read.status, "rejected");
  await scene.ask("ALTER SYSTEM RESET synchronous_standby_names");
  await scene.ask("SELECT pg_reload_conf()");
  await eventually(() => strict.records.object(bucket, "a"));
});
