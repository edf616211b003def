// Records contract: scans of objects, page by page.
import assert from "node:assert/strict";
import fc from "fast-check";
import type { Records } from "../../../src/engine/records.ts";
import type { Position, Scan } from "../../../src/model/listing.ts";
import { wellFormed } from "../../support/arbitraries.ts";
import { inline, objectRecord, plain, putObject } from "../../support/samples.ts";
import { apply, bucket, bucketRecord, type Chapter, emptyBucket } from "./setup.ts";

const everything: Scan = {
  prefix: "",
  delimiter: "",
  limit: 1000,
  metadataBytes: Number.POSITIVE_INFINITY,
};

export const objectScans: Chapter = async (t, ports) => {
  async function filled(keys: readonly string[]): Promise<Records> {
    const { records } = await emptyBucket(ports);
    await apply(records, ...keys.map((key) => putObject(key)));
    return records;
  }

  await t.test("a scan returns the records of a bucket in key order", async () => {
    const { records } = await emptyBucket(ports);
    const given = ["b", "a", "c"].map((key) => objectRecord(key, { customMetadata: new Map([["k", key]]) }));
    await apply(
      records,
      ...given.map((record) => ({ kind: "put object" as const, record, body: inline("") })),
    );
    const page = await records.objects(bucket, everything);
    assert.deepEqual(plain(page.entries), [{ record: given[1] }, { record: given[0] }, { record: given[2] }]);
    assert.equal(page.next, undefined);
  });

  await t.test("a scan of an empty bucket returns one empty page for any limit", async () => {
    const { records } = await emptyBucket(ports);
    for (const limit of [0, 1, 1000]) {
      assert.deepEqual(await records.objects(bucket, { ...everything, limit }), {
        entries: [],
        next: undefined,
      });
    }
  });

  await t.test("a scan returns keys in UTF-8 byte order, also above U+FFFF", async () => {
    const ordered = ["", "\0", "\0a", "A", "Z", "a", "a\0", "a/", "aa", "é", "\ud7ff", "\ue000", "\uffff"];
    ordered.push("\u{10000}", "\u{10000}a", "\u{1f600}", "\u{10ffff}");
    const records = await filled(ordered.toReversed());
    assert.deepEqual(await walk(records, { ...everything, limit: 3 }), ordered);
    assert.deepEqual(await walk(records, { ...everything, prefix: "\u{10000}" }), [
      "\u{10000}",
      "\u{10000}a",
    ]);
    assert.deepEqual(await walk(records, scanAfter("key", "\uffff")), ordered.slice(-4));
    assert.deepEqual(await walk(records, scanAfter("prefix", "\u{10000}")), ordered.slice(-2));
    assert.deepEqual(await walk(records, scanAfter("prefix", "\u{10ffff}")), []);
  });

  await t.test("a scan compares its prefix literally", async () => {
    const records = await filled(["a", "a%", "a%b", "a_b", "aXb", "A%b", "a*", "a?b", "a[b"]);
    for (const prefix of ["a%", "a_", "a*", "a?", "a["]) {
      const found = await walk(records, { ...everything, prefix });
      assert.deepEqual(new Set(found.map((key) => key.slice(0, 2))), new Set([prefix]), prefix);
    }
    assert.deepEqual(await walk(records, { ...everything, prefix: "b" }), []);
  });

  await t.test(
    "a scan with a delimiter groups keys after the prefix, and returns a key equal to the prefix as an object",
    async () => {
      const records = await filled(["a", "a/", "a/b", "a/b/c", "a/b/d", "a/e", "b", "c/d"]);
      const by = (prefix: string) => walk(records, { ...everything, prefix, delimiter: "/" });
      assert.deepEqual(await by(""), ["a", "a/…", "b", "c/…"]);
      assert.deepEqual(await by("a"), ["a", "a/…"]);
      assert.deepEqual(await by("a/"), ["a/", "a/b", "a/b/…", "a/e"]);
      assert.deepEqual(await by("a/b/c"), ["a/b/c"]);
    },
  );

  await t.test("a delimiter of several characters groups keys at its first occurrence", async () => {
    const records = await filled(["--", "a-b", "a--b", "a---b", "a--b--c", "x\u{1f600}\u{1f601}y", "z-"]);
    const by = (delimiter: string) => walk(records, { ...everything, delimiter });
    assert.deepEqual(await by("--"), ["--…", "a--…", "a-b", "x\u{1f600}\u{1f601}y", "z-"]);
    assert.deepEqual(await by("\u{1f600}\u{1f601}"), [
      "--",
      "a---b",
      "a--b",
      "a--b--c",
      "a-b",
      "x\u{1f600}\u{1f601}…",
      "z-",
    ]);
  });

  await t.test("a scan can start after a given key, or after all keys with a given prefix", async () => {
    const records = await filled(["", "a", "a/1", "a/2", "a0", "b"]);
    assert.deepEqual(await walk(records, scanAfter("start", "")), ["", "a", "a/1", "a/2", "a0", "b"]);
    assert.deepEqual(await walk(records, scanAfter("key", "")), ["a", "a/1", "a/2", "a0", "b"]);
    assert.deepEqual(await walk(records, scanAfter("key", "a")), ["a/1", "a/2", "a0", "b"]);
    assert.deepEqual(await walk(records, scanAfter("key", "a/11")), ["a/2", "a0", "b"]);
    assert.deepEqual(await walk(records, scanAfter("prefix", "a/")), ["a0", "b"]);
    assert.deepEqual(await walk(records, scanAfter("prefix", "a")), ["b"]);
    assert.deepEqual(await walk(records, scanAfter("key", "b")), []);
    const within = { ...scanAfter("key", "a/1"), delimiter: "/" };
    assert.deepEqual(await walk(records, within), ["a/…", "a0", "b"]);
    assert.deepEqual(await walk(records, { ...scanAfter("key", "a"), prefix: "a/" }), ["a/1", "a/2"]);
    assert.deepEqual(await walk(records, { ...scanAfter("key", "b"), prefix: "a/" }), []);
  });

  await t.test(
    "objects and prefixes together count toward the limit, and the last page has no next position",
    async () => {
      const records = await filled(["a", "b/1", "b/2", "c"]);
      const page = (limit: number) => records.objects(bucket, { ...everything, delimiter: "/", limit });
      const [none, two, exact, more] = [await page(0), await page(2), await page(3), await page(4)];
      assert.deepEqual([none.entries.length, none.next === undefined], [0, false]);
      assert.deepEqual([two.entries.length, two.next === undefined], [2, false]);
      assert.deepEqual([exact.entries.length, exact.next === undefined], [3, true]);
      assert.deepEqual([more.entries.length, more.next === undefined], [3, true]);
      const after = none.next!;
      assert.deepEqual(await walk(records, { ...everything, after }), ["a", "b/1", "b/2", "c"]);
    },
  );

  await t.test("a prefix is returned once even if a page ends within its keys", async () => {
    const keys = Array.from({ length: 50 }, (_, i) => `folder/${i}`);
    const records = await filled(["a", ...keys, "z"]);
    const scan = { ...everything, delimiter: "/", limit: 1 };
    assert.deepEqual(await walk(records, scan), ["a", "folder/…", "z"]);
  });

  await t.test("a page of a scan ends early once its metadata reaches the size limit", async () => {
    const { records } = await emptyBucket(ports);
    const heavy = { customMetadata: new Map([["name", "x".repeat(996)]]) };
    const keys = Array.from({ length: 8 }, (_, i) => `heavy/${i}`);
    const put = (key: string, fields: object) =>
      ({ kind: "put object", record: objectRecord(key, fields), body: inline("") }) as const;
    await apply(records, ...keys.map((key) => put(key, heavy)), put("light/1", {}), put("light/2", {}));
    const first = await records.objects(bucket, { ...everything, metadataBytes: 2500 });
    assert.equal(first.entries.length, 3);
    assert.notEqual(first.next, undefined);
    for (const metadataBytes of [1, 1001, 2500, 100_000]) {
      assert.deepEqual(await walk(records, { ...everything, metadataBytes }), [
        ...keys,
        "light/1",
        "light/2",
      ]);
    }
    const one = await records.objects(bucket, { ...everything, metadataBytes: 1 });
    assert.equal(one.entries.length, 1);
    const grouped = await records.objects(bucket, { ...everything, delimiter: "/", metadataBytes: 1 });
    assert.equal(grouped.entries.length, 2);
  });

  await t.test(
    "the pages of any scan together equal the listing of a simple reference implementation",
    async () => {
      const { records } = ports;
      const small = fc.string({
        unit: fc.constantFrom("a", "b", "/", "é", "\uffff", "\u{1f600}"),
        maxLength: 6,
      });
      const key = fc.oneof({ arbitrary: small, weight: 5 }, { arbitrary: wellFormed(3), weight: 1 });
      const position: fc.Arbitrary<Position | undefined> = fc.oneof(
        fc.constant(undefined),
        fc.constant({ kind: "start" as const, value: "" }),
        key.map((value) => ({ kind: "key" as const, value })),
        small.filter((value) => value !== "").map((value) => ({ kind: "prefix" as const, value })),
      );
      const scan = fc.record({
        prefix: fc.oneof(fc.constant(""), small),
        delimiter: fc.constantFrom("", "/", "/", "a", "ab", "//", "\u{1f600}"),
        after: position,
        limit: fc.integer({ min: 1, max: 8 }),
        metadataBytes: fc.constant(Number.POSITIVE_INFINITY),
      });
      let round = 0;
      await fc.assert(
        fc.asyncProperty(
          fc.uniqueArray(key, { maxLength: 60, size: "max" }),
          fc.array(scan, { minLength: 10, maxLength: 30, size: "max" }),
          async (keys, scans) => {
            const name = `round-${round++}`;
            await records.createBucket(bucketRecord(name));
            await records.commit(name, { mutations: keys.map((each) => putObject(each)) });
            for (const each of scans) {
              assert.deepEqual(
                await pages(records, each, name),
                naivePages(keys, each),
                JSON.stringify(each),
              );
            }
          },
        ),
        { numRuns: 15 },
      );
    },
  );
};

function scanAfter(kind: Position["kind"], value: string): Scan {
  return { ...everything, after: { kind, value } };
}

/** Reads all pages and returns the keys, and the prefixes marked with an ellipsis. */
async function walk(records: Records, scan: Scan): Promise<string[]> {
  return (await pages(records, scan, bucket)).flat();
}

async function pages(records: Records, scan: Scan, name: string): Promise<string[][]> {
  const found: string[][] = [];
  let after = scan.after;
  do {
    const page = await records.objects(name, { ...scan, after });
    found.push(page.entries.map((entry) => ("prefix" in entry ? `${entry.prefix}…` : entry.record.key)));
    after = page.next;
  } while (after !== undefined && found.length < 1000);
  return found;
}

function naivePages(keys: readonly string[], scan: Scan): string[][] {
  const entries = new Set<string>();
  for (const key of keys.toSorted(byBytes)) {
    if (!key.startsWith(scan.prefix) || !isBehind(key, scan.after)) continue;
    const at = scan.delimiter === "" ? -1 : key.indexOf(scan.delimiter, scan.prefix.length);
    entries.add(at === -1 ? key : `${key.slice(0, at + scan.delimiter.length)}…`);
  }
  const all = [...entries];
  const found = [all.splice(0, scan.limit)];
  while (all.length > 0) found.push(all.splice(0, scan.limit));
  return found;
}

function isBehind(key: string, after: Position | undefined): boolean {
  if (after === undefined || after.kind === "start") return true;
  return byBytes(key, after.value) > 0 && !(after.kind === "prefix" && key.startsWith(after.value));
}

function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
