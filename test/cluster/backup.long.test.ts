// Backups of a cluster on an S3 service, made while clients write: each restores into a directory and
// an empty cluster, with everything that was acknowledged before it began.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { openEngine } from "../../src/open.ts";
import { openShell } from "../cli/store.ts";
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
