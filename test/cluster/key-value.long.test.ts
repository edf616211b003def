// Key-value namespaces on a cluster with a PostgreSQL server and a blob directory.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { migrateCluster } from "../../src/cluster/open.ts";
import { openStore } from "../../src/index.ts";
import { kvContract } from "../contracts/key-value.ts";
import { useCluster } from "./scene.ts";

const cluster = useCluster();

kvContract({
  name: "cluster",
  async open(t, options) {
    const directory = mkdtempSync(join(tmpdir(), "store-test-"));
    const location = {
      records: await cluster.postgres().newDatabase(),
      blobs: pathToFileURL(directory).href,
    };
    await migrateCluster(location);
    const store = await openStore(location, options);
    t.after(async () => {
      await store.close();
      rmSync(directory, { recursive: true, force: true });
    });
    return store;
  },
});

test("a value put into a key-value namespace by one process is immediately visible to other processes", async (t) => {
  const { location } = await cluster.scene(t);
  const [first, second] = [await openStore(location), await openStore(location)];
  t.after(() => Promise.all([first.close(), second.close()]));
  await first.createKvNamespace("sessions");
  for (let i = 0; i < 20; i++) {
    await first.kv("sessions").put("key", String(i));
    assert.equal(await second.kv("sessions").get("key"), String(i));
  }
  await second.kv("sessions").delete("key");
  assert.equal(await first.kv("sessions").get("key"), null);
});
