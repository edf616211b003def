// Records contract: blobs that a change leaves without a name are written down in the same commit.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { BuriedBody, Records } from "../../../src/engine/records.ts";
import {
  bodyPart,
  inBlob,
  inline,
  inParts,
  partRecord,
  putObject,
  uploadRecord,
} from "../../support/samples.ts";
import { apply, bucket, buriedBlobs, type OpenRecords, openBucket } from "./setup.ts";

export function burials(open: OpenRecords): void {
  async function withParts(t: Parameters<OpenRecords>[0], ...numbers: number[]): Promise<Records> {
    const records = await openBucket(open, t);
    await apply(
      records,
      { kind: "put upload", record: uploadRecord("film", { id: "u1" }) },
      ...numbers.map((number) => ({
        kind: "put part" as const,
        uploadId: "u1",
        part: partRecord(number, `p${number}`),
      })),
    );
    return records;
  }

  test("the bytes of a replaced object are buried once, as the one body they were", async (t) => {
    const records = await openBucket(open, t);
    await apply(records, putObject("a", inBlob("b1")));
    assert.deepEqual(await buriedBlobs(records), []);
    await apply(records, putObject("a", inParts("p1", "p2", "p3")));
    assert.deepEqual(await buriedBlobs(records), [["b1"]]);
    await apply(records, putObject("a", inline("small")));
    assert.deepEqual(await buriedBlobs(records), [["b1"], ["p1", "p2", "p3"]]);
    await apply(records, putObject("a", inBlob("b2")));
    assert.deepEqual(await buriedBlobs(records), [["b1"], ["p1", "p2", "p3"]]);
  });

  test("the bytes of a deleted object are buried once", async (t) => {
    const records = await openBucket(open, t);
    await apply(records, putObject("a", inBlob("b1")), putObject("b", inParts("p1", "p2")));
    await apply(
      records,
      { kind: "delete object", key: "a" },
      { kind: "delete object", key: "a" },
      { kind: "delete object", key: "b" },
    );
    await apply(records, { kind: "delete object", key: "a" });
    assert.deepEqual(await buriedBlobs(records), [["b1"], ["p1", "p2"]]);
  });

  test("bytes beside their record leave nothing to bury", async (t) => {
    const records = await openBucket(open, t);
    await apply(records, putObject("a", inline("one")));
    await apply(records, putObject("a", inline("two")), putObject("b", inline("")));
    await apply(records, { kind: "delete object", key: "a" }, { kind: "delete object", key: "b" });
    assert.deepEqual(await buriedBlobs(records), []);
  });

  test("an object put again with the blob it has keeps it", async (t) => {
    const records = await openBucket(open, t);
    await apply(records, putObject("a", inBlob("b1")), putObject("b", inParts("p1", "p2")));
    await apply(records, putObject("a", inBlob("b1")), putObject("b", inParts("p1", "p2")));
    assert.deepEqual(await buriedBlobs(records), []);
  });

  test("the bytes of a replaced part are buried", async (t) => {
    const records = await withParts(t, 1, 2);
    await apply(records, { kind: "put part", uploadId: "u1", part: partRecord(1, "p1-again") });
    assert.deepEqual(await buriedBlobs(records), [["p1"]]);
    await apply(records, { kind: "put part", uploadId: "u1", part: partRecord(1, "p1-thrice") });
    assert.deepEqual(await buriedBlobs(records), [["p1"], ["p1-again"]]);
  });

  test("parts taken into an object live on, all others are buried", async (t) => {
    const records = await withParts(t, 1, 2, 3, 4);
    await apply(records, putObject("film", inBlob("old")));
    await apply(
      records,
      putObject("film", { home: "parts", parts: [bodyPart(2, "p2"), bodyPart(4, "p4")] }),
      { kind: "end parts", uploadId: "u1", taken: [2, 4] },
      { kind: "put upload", record: uploadRecord("film", { id: "u1", state: "completed" }) },
    );
    assert.deepEqual((await buriedBlobs(records)).flat().sort(), ["old", "p1", "p3"]);
    assert.deepEqual(await records.parts(bucket, "u1"), []);
    assert.equal((await records.upload(bucket, "film", "u1"))?.record.state, "completed");
    await apply(records, { kind: "delete upload", key: "film", id: "u1" });
    assert.deepEqual((await buriedBlobs(records)).flat().sort(), ["old", "p1", "p3"]);
    await apply(records, { kind: "delete object", key: "film" });
    assert.deepEqual((await buriedBlobs(records)).at(-1), ["p2", "p4"]);
  });

  test("the order of taking parts and putting their object makes no difference", async (t) => {
    const records = await withParts(t, 1, 2);
    await apply(
      records,
      { kind: "end parts", uploadId: "u1", taken: [1, 2] },
      putObject("film", inParts("p1", "p2")),
    );
    assert.deepEqual(await buriedBlobs(records), []);
  });

  test("an upload that ends without an object buries all its parts", async (t) => {
    const records = await withParts(t, 3, 1, 2);
    await apply(
      records,
      { kind: "end parts", uploadId: "u1", taken: [] },
      { kind: "put upload", record: uploadRecord("film", { id: "u1", state: "aborted" }) },
    );
    assert.deepEqual((await buriedBlobs(records)).flat().sort(), ["p1", "p2", "p3"]);
    await apply(records, { kind: "end parts", uploadId: "u1", taken: [] });
    assert.deepEqual((await buriedBlobs(records)).flat().sort(), ["p1", "p2", "p3"]);
  });

  test("an upload deleted with its parts buries them", async (t) => {
    const records = await withParts(t, 1, 2);
    await apply(records, { kind: "delete upload", key: "film", id: "u1" });
    assert.deepEqual((await buriedBlobs(records)).flat().sort(), ["p1", "p2"]);
    assert.deepEqual(await records.parts(bucket, "u1"), []);
  });

  test("what is buried is paged, oldest first, behind the given entry", async (t) => {
    const records = await openBucket(open, t);
    const ids = Array.from({ length: 7 }, (_, i) => `b${i}`);
    for (const id of ids) {
      await apply(records, putObject("a", inBlob(id)));
    }
    await apply(records, { kind: "delete object", key: "a" });
    assert.deepEqual(await records.buried(bucket, 0, 0), []);
    const found: BuriedBody[] = [];
    for (let after = 0; ; after = found.at(-1)!.entry) {
      const page = await records.buried(bucket, after, 3);
      if (page.length === 0) break;
      assert(page.length <= 3);
      found.push(...page);
    }
    assert.deepEqual(
      found.map(({ blobs }) => [...blobs]),
      ids.map((id) => [id]),
    );
    const entries = found.map(({ entry }) => entry);
    assert.deepEqual(
      entries,
      entries.toSorted((a, b) => a - b),
    );
    assert.equal(new Set(entries).size, 7);
    assert.deepEqual(await records.buried(bucket, entries[3]!, 2), found.slice(4, 6));
  });

  test("what is forgotten is struck out, and nothing else", async (t) => {
    const records = await openBucket(open, t);
    for (const id of ["b1", "b2", "b3", "b4"]) {
      await apply(records, putObject("a", inBlob(id)), { kind: "delete object", key: "a" });
    }
    const buried = await records.buried(bucket, 0, 10);
    await records.forget(bucket, [buried[1]!, buried[3]!]);
    assert.deepEqual(await buriedBlobs(records), [["b1"], ["b3"]]);
    await records.forget(bucket, [buried[1]!]);
    await records.forget(bucket, []);
    assert.deepEqual(await buriedBlobs(records), [["b1"], ["b3"]]);
    await apply(records, putObject("a", inBlob("b5")), { kind: "delete object", key: "a" });
    assert.deepEqual(await buriedBlobs(records), [["b1"], ["b3"], ["b5"]]);
    await records.forget(bucket, await records.buried(bucket, 0, 10));
    assert.deepEqual(await buriedBlobs(records), []);
  });

  test("of a hundred overwrites at once every loser is buried exactly once", async (t) => {
    const records = await openBucket(open, t);
    const ids = Array.from({ length: 100 }, (_, i) => `b${i}`);
    await Promise.all(ids.map((id) => apply(records, putObject("a", inBlob(id)))));
    const kept = (await records.objectWithBody(bucket, "a"))!.body;
    assert(kept.home === "blob");
    const accounted = [...(await buriedBlobs(records)).flat(), kept.blob.id];
    assert.deepEqual(accounted.sort(), ids.sort());
  });
}
