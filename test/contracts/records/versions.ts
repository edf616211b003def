// Records contract: the versions of a key, in buckets whose versioning is on or suspended.
import assert from "node:assert/strict";
import type { Body, Change, Mutation, Records, VersionPage } from "../../../src/engine/records.ts";
import type { Protection } from "../../../src/model/bucket.ts";
import type { VersionPosition } from "../../../src/model/listing.ts";
import type { ObjectRecord } from "../../../src/model/object.ts";
import type { DeleteMarker } from "../../../src/model/version.ts";
import {
  inBlob,
  inline,
  inParts,
  objectRecord,
  partRecord,
  plain,
  uploadRecord,
} from "../../support/samples.ts";
import {
  apply,
  bucket,
  buriedBlobs,
  type Chapter,
  emptyBucket,
  type OpenedBucket,
  type Ports,
} from "./setup.ts";

const on: Protection = { versioning: "on" };
const suspended: Protection = { versioning: "suspended" };

/** Version ids are not sorted by time, so that an implementation cannot order by them. */
const id = (label: string) => Buffer.from(label).toString("hex").repeat(16).slice(0, 32);

interface Fields extends Partial<ObjectRecord> {
  readonly time?: number;
}

function object(key: string, label: string, { time = 1000, ...fields }: Fields = {}): ObjectRecord {
  return objectRecord(key, { version: id(label), uploaded: time, isVersioned: true, ...fields });
}

function nullObject(key: string, label: string, fields: Fields = {}): ObjectRecord {
  const { isVersioned: _, ...record } = object(key, label, fields);
  return record;
}

function marker(key: string, label: string, time = 1000): DeleteMarker {
  return { isDeleteMarker: true, key, version: id(label), uploaded: time, isVersioned: true };
}

function put(record: ObjectRecord, body: Body = inline(record.version)): Mutation {
  return { kind: "put object", record, body };
}

async function versionedBucket(ports: Ports, versioning: "on" | "suspended" = "on"): Promise<OpenedBucket> {
  const opened = await emptyBucket(ports);
  await apply(opened.records, { kind: "put setting", name: "versioning", value: versioning });
  return opened;
}

async function commit(records: Records, protection: Protection, ...mutations: Mutation[]): Promise<void> {
  assert.equal(await records.commit(bucket, { mutations, protection }), "committed");
}

const everything = { prefix: "", delimiter: "", limit: 1000 };

/** Returns "key label" of each version in listed order, with a star for the current version. */
function labels({ entries }: VersionPage): string[] {
  return entries.map((entry) => {
    if (!("record" in entry)) return entry.prefix;
    const { version, isCurrent } = entry.record;
    const label = Buffer.from(version.version, "hex").toString()[0];
    return `${version.key} ${label}${isCurrent ? "*" : ""}`;
  });
}

async function listed(records: Records): Promise<string[]> {
  return labels(await records.versions(bucket, everything));
}

async function currentKeys(records: Records, time?: number): Promise<string[]> {
  const scan = { ...everything, metadataBytes: Number.POSITIVE_INFINITY, time };
  const { entries } = await records.objects(bucket, scan);
  return entries.map((entry) =>
    "record" in entry
      ? `${entry.record.key} ${Buffer.from(entry.record.version, "hex").toString()[0]}`
      : entry.prefix,
  );
}

export const versionRecords: Chapter = async (t, ports) => {
  await t.test("puts with versioning on keep every earlier version with its body", async () => {
    const { records } = await versionedBucket(ports);
    const last = object("a", "c", { time: 30 });
    await commit(records, on, put(object("a", "b", { time: 10 })));
    await commit(records, on, put(object("a", "a", { time: 20 })));
    await commit(records, on, put(last));
    assert.deepEqual(await listed(records), ["a c*", "a a", "a b"]);
    assert.equal((await records.object(bucket, "a"))?.version, id("c"));
    for (const label of ["a", "b", "c"]) {
      const found = await records.version(bucket, "a", id(label));
      assert.equal(found?.version.version, id(label));
      assert.equal(found?.isCurrent, label === "c");
      assert.deepEqual(plain(found?.body), inline(id(label)));
    }
    assert.deepEqual(plain(await records.newestVersion(bucket, "a")), last);
    assert.equal(await records.version(bucket, "a", id("x")), undefined);
    assert.equal(await records.version(bucket, "b", id("a")), undefined);
    assert.equal(await records.version(bucket, "a", "null"), undefined);
    assert.deepEqual(await buriedBlobs(records), []);
    const { entries } = await records.versions(bucket, everything);
    assert.deepEqual(
      entries.map((entry) => "record" in entry && entry.record.until),
      [Number.POSITIVE_INFINITY, 30, 20],
    );
  });

  await t.test("a version keeps all fields of its record in the history", async () => {
    const { records } = await versionedBucket(ports);
    const first = object("a", "a", {
      tags: new Map([["k", "v"]]),
      lock: { retention: { mode: "governance", until: 5 }, legalHold: true },
      customMetadata: new Map([["m", "é"]]),
      httpMetadata: { contentType: "text/plain" },
    });
    await commit(records, on, put(first));
    await commit(records, on, put(object("a", "b")));
    assert.deepEqual(plain((await records.version(bucket, "a", id("a")))?.version), first);
  });

  await t.test("a delete marker hides the object, and the marker is listed as current", async () => {
    const { records } = await versionedBucket(ports);
    const deleted = marker("a", "b", 20);
    await commit(records, on, put(object("a", "a", { time: 10 })));
    await commit(records, on, { kind: "put marker", marker: deleted });
    assert.equal(await records.object(bucket, "a"), undefined);
    assert.equal(await records.objectWithBody(bucket, "a"), undefined);
    assert.deepEqual(await currentKeys(records), []);
    assert.deepEqual(await listed(records), ["a b*", "a a"]);
    assert.deepEqual(plain(await records.newestVersion(bucket, "a")), deleted);
    assert.deepEqual(plain(await records.version(bucket, "a", id("b"))), {
      version: deleted,
      body: undefined,
      isCurrent: true,
    });
    await commit(records, on, put(object("a", "c", { time: 30 })));
    assert.deepEqual(await listed(records), ["a c*", "a b", "a a"]);
    const { entries } = await records.versions(bucket, everything);
    assert.deepEqual(
      entries.map((entry) => "record" in entry && entry.record.until),
      [Number.POSITIVE_INFINITY, 30, 20],
    );
  });

  await t.test("a key without versions can get a delete marker", async () => {
    const { records } = await versionedBucket(ports);
    await commit(records, on, { kind: "put marker", marker: marker("a", "a") });
    assert.deepEqual(await listed(records), ["a a*"]);
    assert.equal(await records.deleteBucket(bucket), "not empty");
  });

  await t.test("removing the current version makes the next older version current", async () => {
    const { records, stage } = await versionedBucket(ports);
    const { old, middle } = await stage("old", "middle");
    await commit(records, on, put(object("a", "a"), inBlob(old)));
    await commit(records, on, put(object("a", "b"), inBlob(middle)));
    await commit(records, on, put(object("a", "c")));
    await commit(records, on, { kind: "delete version", key: "a", version: id("c") });
    assert.deepEqual(await listed(records), ["a b*", "a a"]);
    const found = await records.objectWithBody(bucket, "a");
    assert.equal(found?.record.version, id("b"));
    assert.deepEqual(found?.body, inBlob(middle));
    await commit(records, on, { kind: "delete version", key: "a", version: id("b") });
    assert.deepEqual(await buriedBlobs(records), [[middle]]);
    assert.deepEqual((await records.objectWithBody(bucket, "a"))?.body, inBlob(old));
    await commit(records, on, { kind: "delete version", key: "a", version: id("a") });
    assert.deepEqual(await listed(records), []);
    assert.equal(await records.object(bucket, "a"), undefined);
    assert.deepEqual(await buriedBlobs(records), [[middle], [old]]);
  });

  await t.test("removing a delete marker brings the object back", async () => {
    const { records } = await versionedBucket(ports);
    await commit(records, on, put(object("a", "a", { time: 10 })));
    await commit(records, on, { kind: "put marker", marker: marker("a", "b", 20) });
    await commit(records, on, { kind: "put marker", marker: marker("a", "c", 30) });
    await commit(records, on, { kind: "delete version", key: "a", version: id("c") });
    assert.deepEqual(await listed(records), ["a b*", "a a"]);
    await commit(records, on, { kind: "delete version", key: "a", version: id("b") });
    assert.deepEqual(await listed(records), ["a a*"]);
    assert.deepEqual(plain((await records.objectWithBody(bucket, "a"))?.body), inline(id("a")));
  });

  await t.test("removing a noncurrent version leaves the current version", async () => {
    const { records, stage } = await versionedBucket(ports);
    const { blob } = await stage("blob");
    await commit(records, on, put(object("a", "a"), inBlob(blob)));
    await commit(records, on, put(object("a", "b")));
    await commit(records, on, { kind: "delete version", key: "a", version: id("x") });
    await commit(records, on, { kind: "delete version", key: "a", version: id("a") });
    assert.deepEqual(await listed(records), ["a b*"]);
    assert.deepEqual(await buriedBlobs(records), [[blob]]);
  });

  await t.test("a null version replaces the previous null version wherever that is", async () => {
    const { records, stage } = await emptyBucket(ports);
    const { first, second } = await stage("first", "second");
    await apply(records, put(nullObject("a", "n", { time: 10 }), inBlob(first)));
    await apply(records, { kind: "put setting", name: "versioning", value: "on" });
    await commit(records, on, put(object("a", "a", { time: 20 })));
    assert.deepEqual(await listed(records), ["a a*", "a n"]);
    assert.equal((await records.version(bucket, "a", "null"))?.version.version, id("n"));
    await apply(records, { kind: "put setting", name: "versioning", value: "suspended" });
    await commit(records, suspended, put(nullObject("a", "m", { time: 30 }), inBlob(second)));
    assert.deepEqual(await listed(records), ["a m*", "a a"]);
    assert.deepEqual(await buriedBlobs(records), [[first]]);
    await commit(records, suspended, put(nullObject("a", "o", { time: 40 })));
    assert.deepEqual(await listed(records), ["a o*", "a a"]);
    assert.deepEqual(await buriedBlobs(records), [[first], [second]]);
    const { isVersioned: _, ...nullMarker } = marker("a", "d", 50);
    await commit(records, suspended, { kind: "put marker", marker: nullMarker });
    assert.deepEqual(await listed(records), ["a d*", "a a"]);
    assert.equal((await records.version(bucket, "a", "null"))?.body, undefined);
    await commit(records, suspended, put(nullObject("a", "p", { time: 60 })));
    assert.deepEqual(await listed(records), ["a p*", "a a"]);
    const { entries } = await records.versions(bucket, everything);
    assert.deepEqual(
      entries.map((entry) => "record" in entry && entry.record.until),
      [Number.POSITIVE_INFINITY, 30],
    );
  });

  await t.test("a copy of a version shares its blobs until the last of both is removed", async () => {
    const { records, stage } = await versionedBucket(ports);
    const { blob } = await stage("blob");
    await commit(records, on, put(object("a", "a", { size: 70_000 }), inBlob(blob)));
    await commit(records, on, { kind: "put marker", marker: marker("a", "b") });
    await commit(records, on, { kind: "put copy", record: object("a", "c", { size: 70_000 }), of: id("a") });
    await commit(records, on, { kind: "put copy", record: object("a", "d", { size: 70_000 }), of: id("c") });
    assert.deepEqual(await listed(records), ["a d*", "a c", "a b", "a a"]);
    assert.deepEqual((await records.objectWithBody(bucket, "a"))?.body, inBlob(blob));
    for (const label of ["a", "d"]) {
      await commit(records, on, { kind: "delete version", key: "a", version: id(label) });
      assert.deepEqual(await buriedBlobs(records), []);
      assert.equal(await records.referencesBlob(bucket, blob), true);
    }
    await commit(records, on, { kind: "delete version", key: "a", version: id("c") });
    assert.deepEqual(await buriedBlobs(records), [[blob]]);
  });

  await t.test("a copy of a version has its inline body", async () => {
    const { records } = await versionedBucket(ports);
    await commit(records, on, put(object("a", "a"), inline("text")));
    await commit(records, on, { kind: "put copy", record: object("a", "b"), of: id("a") });
    await commit(records, on, { kind: "delete version", key: "a", version: id("a") });
    assert.deepEqual(plain((await records.objectWithBody(bucket, "a"))?.body), inline("text"));
    await commit(records, on, put(object("b", "c"), inline("")));
    await commit(records, on, { kind: "put copy", record: object("b", "d"), of: id("c") });
    assert.deepEqual(plain((await records.objectWithBody(bucket, "b"))?.body), inline(""));
  });

  await t.test("a copy of a version shares its parts", async () => {
    const { records, stage } = await versionedBucket(ports);
    const { one, two } = await stage("one", "two");
    const upload = uploadRecord("a", { id: id("u") });
    await apply(
      records,
      { kind: "put upload", record: upload },
      { kind: "put part", uploadId: upload.id, part: partRecord(1, one) },
      { kind: "put part", uploadId: upload.id, part: partRecord(2, two) },
    );
    await commit(
      records,
      on,
      put(object("a", "a", { size: 10 }), inParts(one, two)),
      { kind: "end parts", uploadId: upload.id, taken: [1, 2] },
      { kind: "delete upload", key: "a", id: upload.id },
    );
    await commit(records, on, { kind: "put copy", record: object("a", "b", { size: 10 }), of: id("a") });
    assert.deepEqual(plain((await records.objectWithBody(bucket, "a"))?.body), inParts(one, two));
    await commit(records, on, { kind: "delete version", key: "a", version: id("a") });
    assert.deepEqual(await buriedBlobs(records), []);
    assert.deepEqual(plain((await records.objectWithBody(bucket, "a"))?.body), inParts(one, two));
    await commit(records, on, { kind: "delete version", key: "a", version: id("b") });
    assert.deepEqual((await buriedBlobs(records)).flat().sort(), [one, two].sort());
  });

  await t.test("restating changes the record of a version, current or not", async () => {
    const { records } = await versionedBucket(ports);
    const [first, second] = [object("a", "a"), object("a", "b")];
    await commit(records, on, put(first));
    await commit(records, on, put(second));
    for (const record of [first, second]) {
      const { body } = (await records.version(bucket, "a", record.version))!;
      const tagged = { ...record, tags: new Map([["k", record.version]]) };
      await commit(records, on, { kind: "restate object", record: tagged, body: body! });
      const found = await records.version(bucket, "a", record.version);
      assert.deepEqual(plain(found?.version), tagged);
      assert.deepEqual(plain(found?.body), inline(record.version));
    }
    assert.deepEqual(await listed(records), ["a b*", "a a"]);
  });

  await t.test("a commit of objects conflicts if the protection of the bucket is another", async () => {
    const { records } = await emptyBucket(ports);
    const lockRules = [{ id: "r", isEnabled: true, prefix: "", condition: { kind: "indefinite" } }] as const;
    const record = nullObject("a", "a");
    const changes: Change[] = [
      { mutations: [put(record)] },
      { mutations: [put(record)], protection: suspended },
      { mutations: [put(record)], protection: { versioning: "on", lockRules } },
      { mutations: [{ kind: "put marker", marker: marker("a", "b") }] },
      { mutations: [{ kind: "delete object", key: "a" }] },
      { mutations: [{ kind: "delete version", key: "a", version: id("a") }] },
      { mutations: [{ kind: "restate object", record, body: inline(record.version) }] },
    ];
    await apply(records, put(record));
    assert.equal(await records.commit(bucket, { mutations: [put(record)], protection: on }), "conflict");
    await apply(records, { kind: "put setting", name: "versioning", value: "on" });
    for (const change of changes) assert.equal(await records.commit(bucket, change), "conflict");
    await apply(records, { kind: "put setting", name: "lockRules", value: lockRules });
    assert.equal(await records.commit(bucket, { mutations: [put(record)], protection: on }), "conflict");
    await commit(records, { versioning: "on", lockRules }, put(object("a", "c")));
    assert.deepEqual(await listed(records), ["a c*", "a a"]);
  });

  await t.test("a check of a version holds while the version exists unchanged", async () => {
    const { records } = await versionedBucket(ports);
    const [first, deleted] = [object("a", "a"), marker("a", "b")];
    const check = (version: ObjectRecord | DeleteMarker) =>
      records.commit(bucket, { checks: [{ kind: "version", version }], mutations: [] });
    assert.equal(await check(first), "conflict");
    await commit(records, on, put(first));
    assert.equal(await check(first), "committed");
    assert.equal(await check({ ...first, tags: new Map([["k", "v"]]) }), "conflict");
    await commit(records, on, { kind: "put marker", marker: deleted });
    for (const version of [first, deleted]) assert.equal(await check(version), "committed");
    const locked: ObjectRecord = { ...first, lock: { legalHold: true } };
    await commit(records, on, { kind: "restate object", record: locked, body: inline(first.version) });
    assert.equal(await check(first), "conflict");
    assert.equal(await check(locked), "committed");
    await commit(records, on, { kind: "delete version", key: "a", version: id("b") });
    assert.equal(await check(deleted), "conflict");
  });

  await t.test("a check of an object's version fails if a delete marker is current", async () => {
    const { records } = await versionedBucket(ports);
    await commit(records, on, put(object("a", "a")));
    await commit(records, on, { kind: "put marker", marker: marker("a", "b") });
    const check = (version: string | undefined) =>
      records.commit(bucket, { checks: [{ kind: "object", key: "a", version }], mutations: [] });
    assert.equal(await check(id("a")), "conflict");
    assert.equal(await check(id("b")), "conflict");
    assert.equal(await check(undefined), "committed");
  });

  await t.test("a bucket can be read and listed as of a time", async () => {
    const { records } = await versionedBucket(ports);
    await commit(records, on, put(object("a", "a", { time: 10 })));
    await commit(records, on, put(object("b", "b", { time: 15 })));
    await commit(records, on, put(object("a", "c", { time: 20 })));
    await commit(records, on, { kind: "put marker", marker: marker("a", "d", 30) });
    await commit(records, on, put(object("c/1", "e", { time: 35 })), put(object("c/2", "f", { time: 35 })));
    await commit(records, on, { kind: "put marker", marker: marker("c/1", "g", 40) });
    await commit(records, on, put(object("a", "h", { time: 50 })));
    const at: Record<number, string[]> = {
      5: [],
      10: ["a a"],
      15: ["a a", "b b"],
      19: ["a a", "b b"],
      20: ["a c", "b b"],
      30: ["b b"],
      35: ["b b", "c/1 e", "c/2 f"],
      40: ["b b", "c/2 f"],
      50: ["a h", "b b", "c/2 f"],
      99: ["a h", "b b", "c/2 f"],
    };
    for (const [time, expected] of Object.entries(at)) {
      assert.deepEqual(await currentKeys(records, Number(time)), expected, `at ${time}`);
    }
    assert.deepEqual(await currentKeys(records), at[99]);
    const first = await records.objectAt(bucket, "a", 19);
    assert.deepEqual([first?.record.version, plain(first?.body)], [id("a"), inline(id("a"))]);
    assert.equal((await records.objectAt(bucket, "a", 60))?.record.version, id("h"));
    assert.equal(await records.objectAt(bucket, "a", 35), undefined);
    assert.equal(await records.objectAt(bucket, "a", 9), undefined);
    const scan = { prefix: "", delimiter: "/", limit: 2, metadataBytes: Number.POSITIVE_INFINITY, time: 36 };
    const page = await records.objects(bucket, scan);
    assert.deepEqual(
      page.entries.map((entry) => ("record" in entry ? entry.record.key : entry.prefix)),
      ["b", "c/"],
    );
  });

  await t.test("a clock that went back does not change the order of versions", async () => {
    const { records } = await versionedBucket(ports);
    await commit(records, on, put(object("a", "a", { time: 100 })));
    await commit(records, on, put(object("a", "b", { time: 50 })));
    assert.deepEqual(await listed(records), ["a b*", "a a"]);
    assert.deepEqual(await currentKeys(records, 200), ["a b"]);
    assert.deepEqual(await currentKeys(records, 60), ["a b"]);
    assert.equal((await records.objectAt(bucket, "a", 200))?.record.version, id("b"));
  });

  await t.test("versions are listed by pages, with prefix and delimiter", async () => {
    const { records } = await versionedBucket(ports);
    for (const key of ["a", "b/1", "b/2", "c", "ca"]) {
      for (const label of ["1", "2", "3"]) await commit(records, on, put(object(key, label + key)));
    }
    await commit(records, on, { kind: "put marker", marker: marker("b/2", "4") });
    const all = await listed(records);
    assert.equal(all.length, 16);
    assert.deepEqual(all.slice(3, 10), ["b/1 3*", "b/1 2", "b/1 1", "b/2 4*", "b/2 3", "b/2 2", "b/2 1"]);
    for (const limit of [1, 2, 5]) {
      const found: string[] = [];
      let after: VersionPosition | undefined;
      do {
        const page = await records.versions(bucket, { ...everything, limit, after });
        assert.ok(page.entries.length <= limit);
        found.push(...labels(page));
        after = page.next;
      } while (after !== undefined);
      assert.deepEqual(found, all);
    }
    const grouped = labels(await records.versions(bucket, { ...everything, delimiter: "/" }));
    assert.deepEqual(grouped, ["a 3*", "a 2", "a 1", "b/", "c 3*", "c 2", "c 1", "ca 3*", "ca 2", "ca 1"]);
    const after = (position: VersionPosition, prefix = "") =>
      records.versions(bucket, { ...everything, prefix, after: position, limit: 2 }).then(labels);
    assert.deepEqual(await after({ kind: "key", value: "b/1" }), ["b/2 4*", "b/2 3"]);
    assert.deepEqual(await after({ kind: "key", value: "b/1", version: id("2b/1") }), ["b/1 1", "b/2 4*"]);
    assert.deepEqual(await after({ kind: "prefix", value: "b/" }), ["c 3*", "c 2"]);
    assert.deepEqual(await after({ kind: "key", value: "c", version: id("gone") }), ["c 3*", "c 2"]);
    assert.deepEqual(await after({ kind: "key", value: "b/2" }, "b/"), []);
    assert.deepEqual(await after({ kind: "start", value: "" }, "c"), ["c 3*", "c 2"]);
  });

  await t.test("the null version can be a position of a listing", async () => {
    const { records } = await emptyBucket(ports);
    await apply(records, put(nullObject("a", "n")));
    await apply(records, { kind: "put setting", name: "versioning", value: "on" });
    await commit(records, on, put(object("a", "a")));
    await commit(records, on, put(object("b", "b")));
    const after = { kind: "key", value: "a", version: "null" } as const;
    assert.deepEqual(labels(await records.versions(bucket, { ...everything, after })), ["b b*"]);
  });

  await t.test("totals count current objects and noncurrent versions apart", async () => {
    const { records } = await versionedBucket(ports);
    await commit(records, on, put(object("a", "a", { size: 10 })));
    await commit(records, on, put(object("a", "b", { size: 5 })));
    await commit(records, on, put(object("b", "c", { size: 7 })));
    const totals = () => records.totals(bucket);
    assert.deepEqual(await totals(), { objects: 2, bytes: 12, noncurrentVersions: 1, noncurrentBytes: 10 });
    await commit(records, on, { kind: "put marker", marker: marker("a", "d") });
    assert.deepEqual(await totals(), { objects: 1, bytes: 7, noncurrentVersions: 3, noncurrentBytes: 15 });
    await commit(records, on, { kind: "delete version", key: "a", version: id("d") });
    assert.deepEqual(await totals(), { objects: 2, bytes: 12, noncurrentVersions: 1, noncurrentBytes: 10 });
    await commit(records, on, { kind: "delete version", key: "a", version: id("a") });
    assert.deepEqual(await totals(), { objects: 2, bytes: 12, noncurrentVersions: 0, noncurrentBytes: 0 });
  });

  await t.test("the history is inspected with its bodies", async () => {
    const { records } = await versionedBucket(ports);
    await commit(records, on, put(object("a", "a")));
    await commit(records, on, put(object("a", "b")));
    await commit(records, on, { kind: "put marker", marker: marker("b", "c") });
    const found: unknown[] = [];
    for await (const { key, found: entry } of records.inspectHistory(bucket)) {
      assert.ok("version" in entry);
      found.push([key, entry.version.version, plain(entry.body)]);
    }
    assert.deepEqual(found.sort(), [
      ["a", id("a"), inline(id("a"))],
      ["b", id("c"), undefined],
    ]);
    for await (const finding of records.checkIntegrity(bucket, "pages")) assert.fail(finding.what);
  });

  await t.test("a bucket is deleted only if it has neither objects nor versions", async () => {
    const { records } = await versionedBucket(ports);
    await commit(records, on, put(object("a", "a")));
    await commit(records, on, { kind: "put marker", marker: marker("a", "b") });
    assert.equal(await records.deleteBucket(bucket), "not empty");
    await commit(records, on, { kind: "delete version", key: "a", version: id("b") });
    await commit(records, on, { kind: "delete version", key: "a", version: id("a") });
    assert.equal(await records.deleteBucket(bucket), "deleted");
  });
};
