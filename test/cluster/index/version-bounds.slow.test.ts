// A read of one version costs the same however many versions its key has: PostgreSQL's own counters
// show how many rows it read.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Mutation, Records } from "../../../src/engine/records.ts";
import { inline, objectRecord, randomHex } from "../../support/samples.ts";
import { type ClusterScene, until, useCluster } from "../scene.ts";

const cluster = useCluster();
const bucket = "bucket";
const key = "key";
const versionCount = 4000;
const reads = 200;

/** Creates a key with many versions, of which none is the null version. */
async function manyVersions(records: Records): Promise<void> {
  await records.createBucket({ name: bucket, created: 0, storageClass: "Standard", account: "default" });
  await records.commit(bucket, { mutations: [{ kind: "put setting", name: "versioning", value: "on" }] });
  for (let first = 0; first < versionCount; first += 500) {
    const mutations = Array.from({ length: 500 }, (_, i): Mutation => {
      const uploaded = 1_000_000 + first + i;
      const record = objectRecord(key, { version: randomHex(), uploaded, isVersioned: true });
      return { kind: "put object", record, body: inline("x") };
    });
    assert.equal(await records.commit(bucket, { mutations, protection: { versioning: "on" } }), "committed");
  }
}

/** Returns the rows of objects and history that the connections read meanwhile. */
async function rowsRead(scene: ClusterScene, read: () => Promise<unknown>): Promise<number> {
  const count = async (column: string) => {
    const [row] = await scene.ask(
      `SELECT coalesce(sum(${column}), 0) FROM pg_stat_user_tables WHERE relname IN ('objects', 'history')`,
    );
    return Number(row![0]);
  };
  const rows = "seq_tup_read + idx_tup_fetch";
  const scans = "seq_scan + idx_scan";
  const [rowsBefore, scansBefore] = [await count(rows), await count(scans)];
  for (let i = 0; i < reads; i++) await read();
  // Each connection reports its counters at most once a second, after a transaction.
  await until(async () => {
    await read();
    return (await count(scans)) - scansBefore >= reads;
  }, "the counters of the reads");
  return (await count(rows)) - rowsBefore;
}

test("reads of the null version, of a missing version and of a time read few rows of a key with many", async (t) => {
  const scene = await cluster.scene(t);
  const { records } = await scene.open();
  await manyVersions(records);
  for (const [what, read] of [
    ["the null version", () => records.version(bucket, key, "null")],
    ["a missing version", () => records.version(bucket, key, randomHex())],
    ["the newest version", () => records.newestVersion(bucket, key)],
    ["a time before the first version", () => records.objectAt(bucket, key, 999_999)],
    ["a time in the middle", () => records.objectAt(bucket, key, 1_002_000)],
    [
      "a listing of a time",
      () =>
        records.objects(bucket, {
          prefix: "",
          delimiter: "",
          after: undefined,
          limit: 10,
          metadataBytes: 1e9,
          time: 999_999,
        }),
    ],
  ] as const) {
    const rows = await rowsRead(scene, read);
    assert.ok(rows < 20 * reads, `${what}: ${rows / reads} rows a read`);
  }
});
