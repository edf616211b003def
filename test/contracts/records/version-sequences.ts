// Any sequence of changes to versions gives what the records in memory give, whatever the clock shows.
import assert from "node:assert/strict";
import fc from "fast-check";
import type { Body, Change, Mutation, Records } from "../../../src/engine/records.ts";
import { createMemoryRecords } from "../../../src/memory/records.ts";
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
import { bucket, bucketRecord, type Ports } from "./setup.ts";

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

/** Throws if some sequence leaves other versions, listings or garbage than in the records in memory. */
export async function assertVersionSequences(ports: Ports, runs: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 10, maxLength: 40, size: "max" }),
      fc.array(scan, { minLength: 15, maxLength: 15 }),
      async (steps, scans) => {
        if ((await ports.records.bucket(bucket)) !== undefined) await removeAll(ports.records);
        const memory = createMemoryRecords();
        for (const records of [memory, ports.records]) await records.createBucket(bucketRecord(bucket));
        for (const each of steps) {
          for (const change of await toChanges(memory, ports, each)) {
            assert.equal(await memory.commit(bucket, change), "committed");
            assert.equal(await ports.records.commit(bucket, change), "committed");
          }
        }
        await assertSame(ports.records, memory, scans);
      },
    ),
    { numRuns: runs },
  );
}

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
  for await (const finding of actual.checkIntegrity(bucket, "pages")) assert.fail(finding.what);
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
