// Versions in PostgreSQL: any sequence of changes gives what the records in memory give, and
// concurrent commits to the same keys and settings lose nothing.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Mutation, Records } from "../../../src/engine/records.ts";
import type { Protection } from "../../../src/model/bucket.ts";
import type { Version } from "../../../src/model/version.ts";
import { assertVersionSequences } from "../../contracts/records/version-sequences.ts";
import { inline, objectRecord, randomHex } from "../../support/samples.ts";
import { useCluster } from "../scene.ts";

const cluster = useCluster();
const bucket = "bucket";
const bucketRecord = { name: bucket, created: 0, storageClass: "Standard", account: "default" } as const;
const on: Protection = { versioning: "on" };
const everything = { prefix: "", delimiter: "", limit: 1000 };

test("any sequence of changes leaves the versions, listings and garbage of the records in memory", async (t) => {
  const scene = await cluster.scene(t);
  await assertVersionSequences(await scene.open(), 10);
});

async function allVersions(records: Records): Promise<Version[]> {
  const { entries } = await records.versions(bucket, everything);
  return entries.flatMap((entry) => ("record" in entry ? [entry.record.version] : []));
}

function putVersion(key: string, version = randomHex()): Mutation {
  return {
    kind: "put object",
    record: objectRecord(key, { version, isVersioned: true }),
    body: inline(version),
  };
}

test("concurrent puts, markers and removals of the same keys by two servers keep every other version", async (t) => {
  const scene = await cluster.scene(t);
  const servers = [await scene.open(), await scene.open()];
  const { records } = servers[0]!;
  await records.createBucket(bucketRecord);
  await records.commit(bucket, { mutations: [{ kind: "put setting", name: "versioning", value: "on" }] });
  const kept = new Set<string>();
  const names = ["a", "b", "c", "d"];
  await Promise.all(
    Array.from({ length: 24 }, async (_, writer) => {
      const { records } = servers[writer % 2]!;
      const apply = async (...mutations: Mutation[]) =>
        assert.equal(await records.commit(bucket, { mutations, protection: on }), "committed");
      for (let i = 0; i < 12; i++) {
        const [key, other] = [names[(writer + i) % 4]!, names[(writer * 3 + i * 7) % 4]!];
        const versions = [randomHex(), randomHex(), randomHex()] as const;
        if (i % 4 === 0) await apply(putVersion(key, versions[0]), putVersion(other, versions[1]));
        else await apply(putVersion(key, versions[0]));
        kept.add(versions[0]);
        if (i % 4 === 0) kept.add(versions[1]);
        const marker = {
          isDeleteMarker: true,
          key,
          version: versions[2],
          uploaded: 5,
          isVersioned: true,
        } as const;
        if (i % 3 === 0) await apply({ kind: "put marker", marker });
        if (i % 3 === 0 && i % 2 === 0) await apply({ kind: "delete version", key, version: versions[2] });
        else if (i % 3 === 0) kept.add(versions[2]);
        if (i % 5 === 0) {
          await apply({ kind: "delete version", key, version: versions[0] });
          kept.delete(versions[0]);
        }
      }
    }),
  );
  const found = (await allVersions(records)).map(({ version }) => version);
  assert.deepEqual(found.sort(), [...kept].sort());
  for await (const finding of records.checkIntegrity(bucket, "records")) assert.fail(finding.what);
  const { entries } = await records.versions(bucket, everything);
  const current = entries.filter((entry) => "record" in entry && entry.record.isCurrent);
  assert.equal(current.length, names.length);
});

test("concurrent puts into a versioned bucket share a commit", async (t) => {
  const scene = await cluster.scene(t);
  const { records } = await scene.open();
  await records.createBucket(bucketRecord);
  await records.commit(bucket, { mutations: [{ kind: "put setting", name: "versioning", value: "on" }] });
  const commits = async () =>
    Number((await scene.ask("SELECT coalesce(sum(last), 0) FROM store.sessions"))[0]![0]);
  const before = await commits();
  const puts = Array.from({ length: 200 }, (_, i) => putVersion(`key ${i % 100}`));
  const outcomes = await Promise.all(
    puts.map((put) => records.commit(bucket, { mutations: [put], protection: on })),
  );
  assert.ok(outcomes.every((outcome) => outcome === "committed"));
  assert.ok((await commits()) - before < 50, `${(await commits()) - before} commits`);
  const { objects, noncurrentVersions } = await records.totals(bucket);
  assert.deepEqual([objects, noncurrentVersions], [100, 100]);
});

test("no put replaces an object after another server has turned versioning on", async (t) => {
  const scene = await cluster.scene(t);
  const [writer, admin] = [await scene.open(), await scene.open()];
  await writer.records.createBucket(bucketRecord);
  const names = Array.from({ length: 20 }, (_, i) => `key ${i}`);
  let isOver = false;
  let conflicts = 0;
  const written = new Map<string, Set<string>>(names.map((name) => [name, new Set()]));
  const writing = names.map(async (name) => {
    while (!isOver) {
      const { settings: protection } = (await writer.records.bucket(bucket))!;
      const isVersioned = protection.versioning === "on";
      const record = objectRecord(name, isVersioned ? { isVersioned: true } : {});
      const mutations: Mutation[] = [{ kind: "put object", record, body: inline("") }];
      const outcome = await writer.records.commit(bucket, { mutations, protection });
      if (outcome === "conflict") conflicts++;
      else if (isVersioned) written.get(name)!.add(record.version);
    }
  });
  await new Promise((resolve) => setTimeout(resolve, 300));
  const mutations: Mutation[] = [{ kind: "put setting", name: "versioning", value: "on" }];
  assert.equal(await admin.records.commit(bucket, { mutations }), "committed");
  const after = await admin.records.versions(bucket, everything);
  await new Promise((resolve) => setTimeout(resolve, 300));
  isOver = true;
  await Promise.all(writing);
  assert.ok(conflicts > 0);
  for (const entry of after.entries) {
    assert.ok("record" in entry);
    const { key, version } = entry.record.version;
    assert.notEqual(await admin.records.version(bucket, key, version), undefined, key);
  }
  for (const [name, versions] of written) {
    assert.ok(versions.size > 0);
    for (const version of versions) assert.ok(await admin.records.version(bucket, name, version));
  }
});
