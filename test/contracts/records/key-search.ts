// Records contract: searches for keys by a text in any part of them.
import assert from "node:assert/strict";
import fc from "fast-check";
import type { Records } from "../../../src/engine/records.ts";
import type { KeySearch } from "../../../src/model/key-search.ts";
import { wellFormed } from "../../support/arbitraries.ts";
import { putObject } from "../../support/samples.ts";
import { apply, bucket, bucketRecord, type Chapter, emptyBucket } from "./setup.ts";

const anywhere = { prefix: "", limit: 1000, maxMatches: 1000 };

export const keySearches: Chapter = async (t, ports) => {
  async function filled(keys: readonly string[]): Promise<Records> {
    const { records } = await emptyBucket(ports);
    await apply(records, ...keys.map((key) => putObject(key)));
    return records;
  }

  await t.test("a search finds a text at the start, in the middle and at the end of keys", async () => {
    const records = await filled(["rose", "a/Rose.txt", "prose", "ros", "ROSE/", "r/ose", "tulip"]);
    assert.deepEqual(await records.findKeys(bucket, { ...anywhere, text: "rose" }), {
      ...{ keys: ["ROSE/", "a/Rose.txt", "prose", "rose"], scanned: 7, next: undefined },
    });
    assert.deepEqual(
      (await records.findKeys(bucket, { ...anywhere, prefix: "a/", text: "rose" })).scanned,
      1,
    );
  });

  await t.test("a search of an empty bucket compares no keys, and a missing bucket is reported", async () => {
    const records = await filled([]);
    const nothing = { keys: [], scanned: 0, next: undefined };
    assert.deepEqual(await records.findKeys(bucket, { ...anywhere, text: "a" }), nothing);
    await assert.rejects(records.findKeys("missing", { ...anywhere, text: "a" }), { reason: "NoSuchBucket" });
  });

  await t.test("keys with control characters, wildcards and other scripts are compared exactly", async () => {
    const keys = ["", "\0", "\0a", "a\nb", "a%b", "a_b", "\xff", "\ufffd", "\uffff", "É", "ΑΣ", "\u{1f600}x"];
    const records = await filled(keys);
    for (const key of keys.filter((each) => each !== "")) {
      const text = key.toLowerCase();
      const { keys: found, scanned } = await records.findKeys(bucket, { ...anywhere, text });
      assert.deepEqual([found.includes(key), scanned], [true, keys.length], JSON.stringify(key));
    }
    assert.deepEqual((await records.findKeys(bucket, { ...anywhere, text: "a_" })).keys, ["a_b"]);
    assert.deepEqual((await records.findKeys(bucket, { ...anywhere, text: "é" })).keys, ["É"]);
    // No text reaches from one key into the next.
    assert.deepEqual((await records.findKeys(bucket, { ...anywhere, text: "b\xffa" })).keys, []);
  });

  await t.test("a deleted object is not found", async () => {
    const records = await filled(["a", "b"]);
    await apply(records, { kind: "delete object", key: "a" });
    assert.deepEqual((await records.findKeys(bucket, { ...anywhere, text: "a" })).keys, []);
  });

  await t.test("the steps of any search together equal those of a simple implementation", async () => {
    const small = fc.string({
      unit: fc.constantFrom("a", "B", "/", "é", "\uffff", "\u{1f600}"),
      maxLength: 5,
    });
    const key = fc.oneof({ arbitrary: small, weight: 5 }, { arbitrary: wellFormed(3), weight: 1 });
    const search = fc.record({
      prefix: fc.oneof(fc.constant(""), small),
      text: fc.constantFrom("a", "b", "ab", "é", "\u{1f600}", "/a", "\uffff"),
      after: fc.option(key, { nil: undefined }),
      limit: fc.integer({ min: 1, max: 12 }),
      maxMatches: fc.integer({ min: 1, max: 4 }),
    });
    let round = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(key, { maxLength: 40, size: "max" }),
        fc.array(search, { minLength: 5, maxLength: 15, size: "max" }),
        async (keys, searches) => {
          const name = `search-${round++}`;
          await ports.records.createBucket(bucketRecord(name));
          await ports.records.commit(name, { mutations: keys.map((each) => putObject(each)) });
          for (const each of searches)
            assert.deepEqual(await walk(ports.records, name, each), naive(keys, each), JSON.stringify(each));
        },
      ),
      { numRuns: 15 },
    );
  });
};

/** Runs all steps and checks the limits of each. */
async function walk(records: Records, name: string, search: KeySearch) {
  const keys: string[] = [];
  let scanned = 0;
  let { after } = search;
  do {
    const step = await records.findKeys(name, { ...search, after });
    assert.ok(step.scanned <= search.limit && step.keys.length <= search.maxMatches);
    keys.push(...step.keys);
    scanned += step.scanned;
    after = step.next;
  } while (after !== undefined);
  return { keys, scanned };
}

function naive(keys: readonly string[], { prefix, text, after }: KeySearch) {
  const compare = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));
  const candidates = keys
    .filter((key) => key.startsWith(prefix) && (after === undefined || compare(key, after) > 0))
    .toSorted(compare);
  return { keys: candidates.filter((key) => key.toLowerCase().includes(text)), scanned: candidates.length };
}
