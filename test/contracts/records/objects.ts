// Records contract: point reads of objects.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { anyBody, anyObject } from "../../support/arbitraries.ts";
import { bodyPart, inline, objectRecord, plain, putObject, randomHex } from "../../support/samples.ts";
import { apply, bucket, type OpenRecords, openBucket } from "./setup.ts";

export function objectRecords(open: OpenRecords): void {
  test("an object is read with every field as it was put", async (t) => {
    const records = await openBucket(open, t);
    const objects = fc.uniqueArray(fc.record({ record: anyObject, body: anyBody }), {
      minLength: 1,
      maxLength: 12,
      selector: ({ record }) => record.key,
    });
    await fc.assert(
      fc.asyncProperty(objects, async (given) => {
        await apply(records, ...given.map((object) => ({ kind: "put object" as const, ...object })));
        for (const { record, body } of given) {
          const key = record.key;
          assert.deepEqual(plain(await records.object(bucket, key)), plain(record));
          assert.deepEqual(plain(await records.objectWithBody(bucket, key)), plain({ record, body }));
          const scan = { prefix: key, delimiter: "", limit: 1, metadataBytes: Number.POSITIVE_INFINITY };
          const page = await records.objects(bucket, scan);
          assert.deepEqual(plain(page.entries), [{ record: plain(record) }]);
        }
      }),
      { numRuns: 60 },
    );
  });

  test("a missing object is undefined", async (t) => {
    const records = await openBucket(open, t);
    await apply(records, putObject("here"));
    for (const key of ["", "her", "here ", "here/", "HERE", "__proto__"]) {
      assert.equal(await records.object(bucket, key), undefined);
      assert.equal(await records.objectWithBody(bucket, key), undefined);
    }
  });

  test("keys that look alike are different keys", async (t) => {
    const records = await openBucket(open, t);
    const keys = ["", "\0", "\0\0", "a", "A", "a\0", "a/", "/a", "a//", "é", "e\u0301", "%61", "a/../b", "b"];
    await apply(records, ...keys.map((key) => putObject(key, inline(JSON.stringify(key)))));
    for (const key of keys) {
      const found = await records.objectWithBody(bucket, key);
      assert.equal(found?.record.key, key);
      assert.deepEqual(plain(found?.body), inline(JSON.stringify(key)));
    }
  });

  test("bytes in each home are found where they were put", async (t) => {
    const records = await openBucket(open, t);
    const everyByte = Uint8Array.from({ length: 4096 }, (_, i) => i % 256);
    const bodies = {
      empty: { home: "inline", bytes: new Uint8Array(0) },
      inline: { home: "inline", bytes: everyByte },
      blob: { home: "blob", blob: { id: "b1", size: 5_363_466_240 } },
      parts: { home: "parts", parts: Array.from({ length: 10_000 }, (_, i) => bodyPart(i + 1, `p${i}`)) },
      gaps: { home: "parts", parts: [bodyPart(2, "p2"), bodyPart(9999, "p9999")] },
    } as const;
    for (const [key, body] of Object.entries(bodies)) await apply(records, putObject(key, body));
    for (const [key, body] of Object.entries(bodies)) {
      assert.deepEqual(plain((await records.objectWithBody(bucket, key))?.body), plain(body), key);
    }
  });

  test("a body that moves to another home is read from there alone", async (t) => {
    const records = await openBucket(open, t);
    const homes = [inline("small"), { home: "blob", blob: { id: "b", size: 9 } }, inline("")] as const;
    for (const body of homes) {
      await apply(records, putObject("a", body));
      assert.deepEqual(plain((await records.objectWithBody(bucket, "a"))?.body), body);
    }
  });

  test("the record and its bytes are read at one instant", async (t) => {
    const records = await openBucket(open, t);
    await apply(records, putObject("a", inline("first"), "first"));
    let writing = true;
    const writes = (async () => {
      for (let i = 0; i < 100; i++) {
        const version = randomHex();
        const body =
          i % 2 === 0 ? inline(version) : { home: "blob" as const, blob: { id: version, size: 32 } };
        await apply(records, putObject("a", body, version));
      }
      writing = false;
    })();
    let reads = 0;
    while (writing) {
      const { record, body } = (await records.objectWithBody(bucket, "a"))!;
      assert(body.home !== "parts");
      const stored = body.home === "blob" ? body.blob.id : Buffer.from(body.bytes).toString();
      assert.equal(stored, record.version);
      if (reads++ % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    await writes;
    assert(reads > 0);
  });

  test("once a commit has resolved every read sees it", async (t) => {
    const records = await openBucket(open, t);
    for (let round = 0; round < 20; round++) {
      const record = objectRecord("a", { size: round });
      await apply(records, { kind: "put object", record, body: inline(`${round}`) });
      assert.equal((await records.object(bucket, "a"))?.version, record.version);
      await apply(records, { kind: "delete object", key: "a" });
      assert.equal(await records.object(bucket, "a"), undefined);
    }
  });
}
