// Backups of a cluster on an S3 service, made while clients write: each restores into a directory and
// an empty cluster, with everything that was acknowledged before it began.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { openEngine } from "../../src/open.ts";
import { openShell, outcomeOf } from "../cli/store.ts";
import { startStoreService } from "../proof/backup/store-service.ts";
import { collect } from "../support/bytes.ts";
import { useCluster } from "./scene.ts";

const cluster = useCluster();
const backups = 3;

/** The body of a key, in the size of the blob backend or inline. */
function bodyOf(key: string): Buffer {
  return Buffer.alloc(key.length % 2 === 0 ? 100 : 20_000, `${key} `);
}

test("a cluster backed up to an S3 service under load restores what was acknowledged", async (t) => {
  const shell = await openShell(t);
  const service = await startStoreService(join(shell.directory, "service"), "backups");
  t.after(() => service.end());
  const scene = await cluster.scene(t);
  const { engine } = await openEngine(scene.location);
  await engine.createBucket("load");
  let acknowledged = 0;
  let isOver = false;
  const writing = (async () => {
    for (let n = 0; !isOver; n++) {
      await engine.put("load", `key ${n}`, bodyOf(`key ${n}`));
      // Every third object is deleted again, so that garbage is collected meanwhile.
      if (n % 3 === 2) await engine.delete("load", [`key ${n}`]);
      if (n % 50 === 0) await engine.sweep();
      acknowledged = n;
    }
  })();
  try {
    const environment = {
      ...service.environment,
      STORE_RECORDS: scene.location.records,
      STORE_BLOBS: scene.location.blobs,
    };
    const url = `s3://${service.host}/backups/cluster`;
    for (let i = 0; i < backups; i++) {
      const before = acknowledged;
      const args = ["backup", "--staging", "staging", "--to", url, "--json"];
      const made = await shell.run(args, { environment });
      assert.equal(made.code, 0, made.stderr);
      const after = acknowledged + 1;
      const target = `restored-${i}`;
      const restore = ["restore", "--from", url, "--data", target];
      const restored = await shell.run(restore, { environment: service.environment });
      assert.equal(restored.code, 0, restored.stderr);
      await assertHolds(join(shell.directory, target), before, after);
    }
    const empty = await cluster.scene(t);
    const { records, blobs } = empty.location;
    const copied = await shell.run([
      ...["copy", "--from", `restored-${backups - 1}`],
      ...["--to", records, "--to-blobs", blobs],
    ]);
    assert.equal(copied.code, 0, copied.stderr);
    assert.match(copied.stdout, /Both stores are identical/);
    assert.ok(acknowledged > 0);
  } finally {
    isOver = true;
    await writing;
    await engine.close();
  }
});

test("a restore to a cluster that is killed at any moment is resumed by the same command", async (t) => {
  const shell = await openShell(t);
  const { engine } = await openEngine(join(shell.directory, ".store"));
  await engine.createBucket("load");
  for (let n = 0; n < 400; n++) await engine.put("load", `key ${n}`, bodyOf(`key ${n}`));
  await engine.close();
  await shell.store("backup", "--to", "backup");
  const { location, ask } = await cluster.scene(t);
  const environment = { STORE_RECORDS: location.records, STORE_BLOBS: location.blobs };
  const count = async () => Number((await ask("SELECT count(*) FROM store.objects"))[0]?.[0]);
  const moments: (() => Promise<boolean>)[] = [
    async () => existsSync(join(shell.directory, "staging/restore.json")),
    async () => existsSync(join(shell.directory, "staging/data/buckets")),
    async () => (await count()) > 0,
    async () => (await count()) > 150,
    async () => (await count()) > 300,
  ];
  const kills: number[] = [];
  for (const isReached of moments) {
    const child = shell.start(["restore", "--from", "backup", "--staging", "staging"], { environment });
    child.stdin.end();
    const ended = outcomeOf(child);
    while (child.exitCode === null && !(await isReached()));
    child.kill("SIGKILL");
    if ((await ended).code === 0) break;
    kills.push(await count());
    const opened = await shell.run(["bucket", "list"], { environment });
    assert.ok(opened.code !== 0 || opened.stdout === "", "an unfinished cluster cannot be used");
  }
  t.diagnostic(`killed ${kills.length} times, with ${kills.join(", ")} objects in the cluster`);
  assert.ok(kills.length >= 3);
  const ended = await shell.run(["restore", "--from", "backup", "--staging", "staging"], { environment });
  assert.ok(ended.code === 0 || /already holds a copy/.test(ended.stderr), ended.stderr);
  const compared = await shell.run(["copy", "--from", ".store", "--verify"], { environment });
  assert.equal(compared.code, 0, compared.stderr);
  assert.match(compared.stdout, /400 objects.*Both stores are identical/);
});

async function assertHolds(directory: string, before: number, after: number): Promise<void> {
  const { engine } = await openEngine(directory);
  try {
    let isPast = false;
    for (let n = 0; n <= after; n++) {
      const key = `key ${n}`;
      const found = await engine.get("load", key);
      if (found.outcome === "found") {
        // One instant: nothing after the first missing object is there.
        assert.ok(!isPast, `"${key}" is there, but an earlier object is missing`);
        assert.ok((await collect(found.bytes.chunks())).equals(bodyOf(key)), `the bytes of "${key}"`);
      } else if (n % 3 !== 2) {
        assert.ok(n > before, `"${key}" was acknowledged before the backup began, and is missing`);
        isPast = true;
      }
    }
    assert.deepEqual((await engine.verify()).damages, []);
  } finally {
    await engine.close();
  }
}
