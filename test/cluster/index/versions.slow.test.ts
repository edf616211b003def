// Versions in PostgreSQL: any sequence of changes gives what the records in memory give, and
// concurrent commits to the same keys and settings lose nothing.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Body, Change, Mutation, Records } from "../../../src/engine/records.ts";
import { createMemoryRecords } from "../../../src/memory/records.ts";
import type { Protection } from "../../../src/model/bucket.ts";
import type { Scan, VersionPosition } from "../../../src/model/listing.ts";
import type { DeleteMarker, Version } from "../../../src/model/version.ts";
import {
  inBlob,
  inline,
  inParts,
  objectRecord,
  partRecord,
  plain,
  randomHex,
  uploadRecord,
} from "../../support/samples.ts";
import { type Ports, useCluster } from "../scene.ts";

const cluster = useCluster();
const bucket = "bucket";
const bucketRecord = { name: bucket, created: 0, storageClass: "Standard", account: "default" } as const;
const on: Protection = { versioning: "on" };
const everything = { prefix: "", delimiter: "", limit: 1000 };

const keys = ["a", "a/", "a/1", "a/2", "b", "b/1/x", "b/2", "\0", "é/\u{1f600}", 'q"\\'];
const key = fc.constantFrom(...keys);
const time = fc.integer({ min: -5, max: 60 });
const pick = fc.nat(1000);

const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("put" as const), key, time, body: fc.nat(3) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("mark" as const), key, time }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("copy" as const), pick, time }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("remove" as const), pick }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("restate" as const), pick }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("versioning" as const),
      value: fc.constantFrom("on" as const, "suspended" as const),
    }),
  },
);

const position: fc.Arbitrary<VersionPosition | undefined> = fc.oneof(
  fc.constant(undefined),
  fc.constant({ kind: "start" as const, value: "" }),
  key.map((value) => ({ kind: "key" as const, value })),
  key.map((value) => ({ kind: "key" as const, value, version: "null" })),
  fc.constantFrom("a/", "b", "é").map((value) => ({ kind: "prefix" as const, value })),
);
const scan = fc.record({
  prefix: fc.constantFrom("", "", "a", "a/", "b/", "é"),
  delimiter: fc.constantFrom("", "/", "/", "1"),
  after: position,
  limit: fc.integer({ min: 1, max: 7 }),
  time,
});

test("any sequence of changes leaves the versions, listings and garbage of the records in memory", async (t) => {
  const scene = await cluster.scene(t);
  const ports = await scene.open();
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 10, maxLength: 40, size: "max" }),
      fc.array(scan, { minLength: 15, maxLength: 15 }),
      async (steps, scans) => {
        if ((await ports.records.bucket(bucket)) !== undefined) await removeAll(ports.records);
        const memory = createMemoryRecords();
        for (const records of [memory, ports.records]) await records.createBucket(bucketRecord);
        for (const each of steps) {
          for (const change of await toChanges(memory, ports, each)) {
            assert.equal(await memory.commit(bucket, change), "committed");
            assert.equal(await ports.records.commit(bucket, change), "committed");
          }
        }
        await assertSame(ports.records, memory, scans);
      },
    ),
    { numRuns: 10 },
  );
});

/** Returns the commits of a step, chosen for the state of the records in memory. */
async function toChanges(
  memory: Records,
  ports: Ports,
  one: typeof step extends fc.Arbitrary<infer T> ? T : never,
): Promise<Change[]> {
  const { settings: protection } = (await memory.bucket(bucket))!;
  const mode = protection.versioning === "on" ? ({ isVersioned: true } as const) : {};
  const existing = await allVersions(memory);
  const chosen = "pick" in one ? existing[one.pick % Math.max(existing.length, 1)] : undefined;
  const version = randomHex();
  switch (one.kind) {
    case "put": {
      const record = objectRecord(one.key, { version, uploaded: one.time, size: one.body, ...mode });
      const put = (body: Body): Mutation => ({ kind: "put object", record, body });
      if (one.body < 2) {
        const body = one.body === 0 ? inline(version) : inBlob((await stage(ports, 1))[0]!);
        return [{ mutations: [put(body)], protection }];
      }
      const parts = await stage(ports, 2);
      const upload = uploadRecord(one.key);
      return [
        {
          protection,
          mutations: [
            { kind: "put upload", record: upload },
            ...parts.map(
              (blob, i): Mutation => ({
                kind: "put part",
                uploadId: upload.id,
                part: partRecord(i + 1, blob),
              }),
            ),
            put(inParts(...parts)),
            { kind: "end parts", uploadId: upload.id, taken: [1, 2] },
            { kind: "delete upload", key: one.key, id: upload.id },
          ],
        },
      ];
    }
    case "mark": {
      if (protection.versioning === undefined) return [];
      const marker: DeleteMarker = {
        isDeleteMarker: true,
        key: one.key,
        version,
        uploaded: one.time,
        ...mode,
      };
      return [{ mutations: [{ kind: "put marker", marker }], protection }];
    }
    case "copy": {
      if (chosen === undefined || "isDeleteMarker" in chosen) return [];
      const { isVersioned: _, ...fields } = chosen;
      const record = { ...fields, version, uploaded: one.time, ...mode };
      const checks = [{ kind: "version", version: chosen }] as const;
      return [{ checks, mutations: [{ kind: "put copy", record, of: chosen.version }], protection }];
    }
    case "remove": {
      if (chosen === undefined) return [];
      const { key, version } = chosen;
      return [{ mutations: [{ kind: "delete version", key, version }], protection }];
    }
    case "restate": {
      if (chosen === undefined || "isDeleteMarker" in chosen) return [];
      const record = { ...chosen, tags: new Map([["t", version]]) };
      const { body } = (await memory.version(bucket, chosen.key, chosen.version))!;
      return [{ mutations: [{ kind: "restate object", record, body: body! }], protection }];
    }
    case "versioning":
      return [{ mutations: [{ kind: "put setting", name: "versioning", value: one.value }] }];
  }
}

async function assertSame(
  actual: Records,
  expected: Records,
  scans: readonly (Pick<Scan, "prefix" | "delimiter" | "limit" | "time"> & {
    after: VersionPosition | undefined;
  })[],
): Promise<void> {
  const same = async (read: (records: Records) => Promise<unknown>, what: unknown) =>
    assert.deepEqual(plain(await read(actual)), plain(await read(expected)), JSON.stringify(what));
  for (const { time, ...each } of scans) {
    const versionPages = (records: Records) =>
      allPages(each.after, (after) => records.versions(bucket, { ...each, after }));
    await same(versionPages, each);
    for (const metadataBytes of [1, Number.POSITIVE_INFINITY]) {
      const scanAt = { ...each, time, metadataBytes };
      await same(
        (records) => allPages(each.after, (after) => records.objects(bucket, { ...scanAt, after })),
        scanAt,
      );
    }
    for (const one of keys) {
      await same((records) => records.objectAt(bucket, one, time!), [one, time]);
      await same((records) => records.version(bucket, one, "null"), one);
      await same((records) => records.newestVersion(bucket, one), one);
    }
  }
  for (const { key, version } of await allVersions(expected)) {
    await same((records) => records.version(bucket, key, version), [key, version]);
  }
  await same((records) => records.totals(bucket), "totals");
  await same(garbage, "garbage");
  for await (const finding of actual.checkIntegrity(bucket, "records")) assert.fail(finding.what);
}

async function allPages<P, T>(
  start: P | undefined,
  read: (after: P | undefined) => Promise<{ readonly entries: readonly T[]; readonly next: P | undefined }>,
): Promise<(readonly T[])[]> {
  const found: (readonly T[])[] = [];
  for (let after = start; ; ) {
    const { entries, next } = await read(after);
    found.push(entries);
    if (next === undefined) return found;
    assert.ok(found.length < 1000, "a listing ends");
    after = next;
  }
}

async function garbage(records: Records): Promise<string[][]> {
  return (await records.garbage(bucket, 0, 1000)).map(({ blobs }) => [...blobs]);
}

async function allVersions(records: Records): Promise<Version[]> {
  const { entries } = await records.versions(bucket, everything);
  return entries.flatMap((entry) => ("record" in entry ? [entry.record.version] : []));
}

async function stage({ blobs }: Ports, count: number): Promise<string[]> {
  async function* nothing(): AsyncIterable<Uint8Array> {}
  const staged = await Promise.all(Array.from({ length: count }, () => blobs.stage(bucket, nothing())));
  for (const blob of staged) blob.keep();
  return staged.map(({ id }) => id);
}

async function removeAll(records: Records): Promise<void> {
  const { settings: protection } = (await records.bucket(bucket))!;
  const mutations = (await allVersions(records)).map(
    ({ key, version }): Mutation => ({ kind: "delete version", key, version }),
  );
  assert.equal(await records.commit(bucket, { mutations, protection }), "committed");
  assert.equal(await records.deleteBucket(bucket), "deleted");
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
