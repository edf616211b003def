// Listings that merge objects and history return the same pages as the adapter in memory, which keeps
// both in plain maps.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Mutation, Records } from "../../../../src/engine/records.ts";
import { openLocal } from "../../../../src/local/open.ts";
import { createMemoryRecords } from "../../../../src/memory/records.ts";
import type { Position, VersionPosition } from "../../../../src/model/listing.ts";
import { createRandom } from "../../../support/random.ts";
import { inline, objectRecord, plain } from "../../../support/samples.ts";
import { temporaryDirectory } from "../../../support/stores.ts";

const bucket = "versions";
const protection = { versioning: "on" } as const;
const names = ["a", "b", "a/b", "a/b/c", "a\0b", "a\0", "é", "\uffee", "🔑", "🔑/x", "z"];
const keys = names.flatMap((name) => Array.from({ length: 12 }, (_, i) => `${name}${i % 4}/${name}${i}`));
const lastTime = 50;

/** Returns commits of puts, delete markers and removed versions, in the same order for every store. */
function createCommits(): Mutation[][] {
  const random = createRandom(7);
  const written: { key: string; version: string }[] = [];
  let count = 0;
  const next = (key: string): Mutation => {
    const version = (++count).toString(16).padStart(32, "0");
    const target = written[random.below(written.length + 1)];
    const choice = random.below(10);
    if (choice === 0 && target !== undefined) return { kind: "delete version", ...target };
    written.push({ key, version });
    // Times are not in the order of the commits.
    const fields = { version, uploaded: random.below(lastTime), isVersioned: true } as const;
    if (choice < 3) return { kind: "put marker", marker: { isDeleteMarker: true, key, ...fields } };
    return { kind: "put object", record: objectRecord(key, fields), body: inline(version) };
  };
  const mixed = Array.from({ length: 20 }, () =>
    Array.from({ length: 60 }, () => next(keys[random.below(keys.length)]!)),
  );
  // More versions of one key than a batch has rows.
  return [...mixed, Array.from({ length: 1500 }, () => next("hot"))];
}

async function fill(records: Records): Promise<Records> {
  const record = { name: bucket, created: 0, storageClass: "Standard", account: "default" } as const;
  await records.createBucket(record);
  await records.commit(bucket, { mutations: [{ kind: "put setting", name: "versioning", value: "on" }] });
  for (const mutations of createCommits())
    assert.equal(await records.commit(bucket, { mutations, protection }), "committed");
  return records;
}

/** Returns all pages of a listing of versions. */
async function versionPages(records: Records, prefix: string, delimiter: string, limit: number) {
  const pages: unknown[] = [];
  for (let after: VersionPosition | undefined; ; ) {
    const page = await records.versions(bucket, { prefix, delimiter, limit, after });
    pages.push(plain(page));
    if (page.next === undefined) return pages;
    after = page.next;
  }
}

test("pages of versions and of past objects are those of the adapter in memory", async (t) => {
  const { records: local, blobs } = await openLocal(await temporaryDirectory(t));
  t.after(async () => {
    await local.close();
    await blobs.close();
  });
  await fill(local);
  const memory = await fill(createMemoryRecords());
  assert.deepEqual(await local.totals(bucket), await memory.totals(bucket));
  for (const [prefix, delimiter] of [
    ["", ""],
    ["", "/"],
    ["a", "/"],
    ["a\0", ""],
    ["🔑", "/"],
    ["hot", ""],
    ["h", "o"],
  ] as const) {
    for (const limit of [7, 100, 1000, 1001, 5000]) {
      const subject = JSON.stringify({ prefix, delimiter, limit });
      const expected = await versionPages(memory, prefix, delimiter, limit);
      assert.deepEqual(await versionPages(local, prefix, delimiter, limit), expected, subject);
      for (const time of [-1, 0, 10, 25, lastTime]) {
        const scan = { prefix, delimiter, limit, time, metadataBytes: Number.POSITIVE_INFINITY };
        const page = await memory.objects(bucket, scan);
        assert.deepEqual(plain(await local.objects(bucket, scan)), plain(page), `${subject} at ${time}`);
      }
    }
  }
  for (const key of [...keys, "hot", "never"]) {
    const newest = await memory.newestVersion(bucket, key);
    assert.deepEqual(plain(await local.newestVersion(bucket, key)), plain(newest), key);
    for (const time of [0, 25]) {
      const past = await memory.objectAt(bucket, key, time);
      assert.deepEqual(plain(await local.objectAt(bucket, key, time)), plain(past), `${key} at ${time}`);
    }
  }
  for await (const { what } of local.checkIntegrity(bucket, "pages")) assert.fail(what);
});

test("a listing of the past ends a page early after many keys that did not exist, and can be resumed", async (t) => {
  const { records, blobs } = await openLocal(await temporaryDirectory(t));
  t.after(async () => {
    await records.close();
    await blobs.close();
  });
  const record = { name: bucket, created: 0, storageClass: "Standard", account: "default" } as const;
  await records.createBucket(record);
  const put = (key: string, uploaded: number): Mutation => {
    return { kind: "put object", record: objectRecord(key, { uploaded }), body: inline("") };
  };
  const later = Array.from({ length: 25_000 }, (_, i) => put(`later/${String(i).padStart(5, "0")}`, 20));
  await records.commit(bucket, { mutations: [put("early", 10), ...later, put("second", 10)] });
  for (const delimiter of ["", "/"]) {
    const found: string[] = [];
    const pages: number[] = [];
    for (let after: Position | undefined; ; ) {
      const scan = { prefix: "", delimiter, limit: 1000, metadataBytes: Number.POSITIVE_INFINITY };
      const page = await records.objects(bucket, { ...scan, time: 15, after });
      found.push(...page.entries.map((entry) => ("record" in entry ? entry.record.key : entry.prefix)));
      pages.push(page.entries.length);
      if (page.next === undefined) break;
      after = page.next;
    }
    assert.deepEqual(found, ["early", "second"]);
    assert.deepEqual(pages, [1, 0, 1]);
  }
});
