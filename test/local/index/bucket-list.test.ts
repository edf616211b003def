// The list of buckets is read again only after a change of the registry, by any process.
import assert from "node:assert/strict";
import { test } from "node:test";
import { DatabaseSync } from "@photostructure/sqlite";
import { dataLayout } from "../../../src/local/disk/layout.ts";
import { openLocal } from "../../../src/local/open.ts";
import { temporaryDirectory } from "../../support/stores.ts";

const bucket = (name: string) =>
  ({ name, created: 0, storageClass: "Standard", account: "default" }) as const;

test("a list of buckets is kept in memory until any process creates or deletes one", async (t) => {
  const directory = await temporaryDirectory(t);
  const [{ records }, other] = [await openLocal(directory), await openLocal(directory)];
  t.after(async () => {
    for (const ports of [records, other.records, other.blobs]) await ports.close();
  });
  const names = async () => (await records.buckets()).map(({ name }) => name);
  assert.deepEqual(await names(), []);
  await records.createBucket(bucket("one"));
  assert.deepEqual(await records.buckets(), [bucket("one")]);
  assert.equal(await records.buckets(), await records.buckets(), "the same list");
  for (let round = 0; round < 5; round++) {
    await other.records.createBucket(bucket("two"));
    assert.deepEqual(await names(), ["one", "two"]);
    assert.equal(await records.buckets(), await records.buckets());
    await other.records.deleteBucket("two");
    assert.deepEqual(await names(), ["one"]);
  }
});

test("a damaged entry is reported by every list, also after a list that was whole", async (t) => {
  const directory = await temporaryDirectory(t);
  const { records, blobs } = await openLocal(directory);
  t.after(async () => {
    await records.close();
    await blobs.close();
  });
  await records.createBucket(bucket("one"));
  assert.equal((await records.buckets()).length, 1);
  const registry = new DatabaseSync(dataLayout(directory).registry);
  registry.exec("UPDATE buckets SET account = 'another'");
  registry.close();
  for (let i = 0; i < 2; i++) await assert.rejects(records.buckets(), { reason: "Damaged" });
  assert.deepEqual(await records.buckets("sound"), []);
});
