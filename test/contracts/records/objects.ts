// Records contract: reads of single objects by key.
import assert from "node:assert/strict";
import fc from "fast-check";
import type { Body } from "../../../src/engine/records.ts";
import { anyBody, anyObject } from "../../support/arbitraries.ts";
import {
  bodyPart,
  inBlob,
  inline,
  inParts,
  objectRecord,
  plain,
  putObject,
  randomHex,
} from "../../support/samples.ts";
import { apply, bucket, type Chapter, emptyBucket } from "./setup.ts";

export const objectRecords: Chapter = async (t, ports) => {
  await t.test("every field of an object is read as it was put", async () => {
    const { records, stageMany } = await emptyBucket(ports);
    const objects = fc.uniqueArray(fc.record({ record: anyObject, body: anyBody }), {
      minLength: 1,
      maxLength: 12,
      selector: ({ record }) => record.key,
    });
    await fc.assert(
      fc.asyncProperty(objects, async (drawn) => {
        const ids = await stageMany(drawn.length);
        const given = drawn.map(({ record, body }, i) => ({ record, body: withBlob(body, ids[i]!) }));
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
      { numRuns: 40 },
    );
  });

  await t.test("reading a missing object returns undefined", async () => {
    const { records } = await emptyBucket(ports);
    await apply(records, putObject("here"));
    for (const key of ["", "her", "here ", "here/", "HERE", "__proto__"]) {
      assert.equal(await records.object(bucket, key), undefined);
      assert.equal(await records.objectWithBody(bucket, key), undefined);
    }
  });

  await t.test("keys that look alike are different keys", async () => {
    const { records } = await emptyBucket(ports);
    const keys = ["", "\0", "\0\0", "a", "A", "a\0", "a/", "/a", "a//", "é", "e\u0301", "%61", "a/../b", "b"];
    await apply(records, ...keys.map((key) => putObject(key, inline(JSON.stringify(key)))));
    for (const key of keys) {
      const found = await records.objectWithBody(bucket, key);
      assert.equal(found?.record.key, key);
      assert.deepEqual(plain(found?.body), inline(JSON.stringify(key)));
    }
  });

  await t.test("an object is read with its body, stored inline, in a blob or in parts", async () => {
    const { records, stage } = await emptyBucket(ports);
    const blob = await stage("large");
    const everyByte = Uint8Array.from({ length: 4096 }, (_, i) => i % 256);
    const bodies = {
      empty: { storage: "inline", bytes: new Uint8Array(0) },
      inline: { storage: "inline", bytes: everyByte },
      blob: { storage: "blob", blob: { id: blob.large, size: 5_363_466_240 } },
      parts: { storage: "parts", parts: Array.from({ length: 10_000 }, (_, i) => bodyPart(i + 1, `p${i}`)) },
      gaps: { storage: "parts", parts: [bodyPart(2, "p2"), bodyPart(9999, "p9999")] },
    } as const;
    for (const [key, body] of Object.entries(bodies)) await apply(records, putObject(key, body));
    for (const [key, body] of Object.entries(bodies)) {
      assert.deepEqual(plain((await records.objectWithBody(bucket, key))?.body), plain(body), key);
    }
  });

  await t.test("a body that was moved to other storage is read only from the new storage", async () => {
    const { records, stage } = await emptyBucket(ports);
    const blob = await stage("large");
    const homes = [inline("small"), inBlob(blob.large), inline(""), inParts("p1", "p2"), inline("again")];
    for (const body of homes) {
      await apply(records, putObject("a", body));
      assert.deepEqual(plain((await records.objectWithBody(bucket, "a"))?.body), body);
    }
  });

  await t.test("a record and its body are always read from the same version", async () => {
    const { records, stageMany } = await emptyBucket(ports);
    const puts = (await stageMany(30)).map((blob) => ({ blob, version: randomHex() }));
    const expected = new Map<string, string>();
    const put = async (version: string, body: Body, content: string) => {
      expected.set(version, content);
      await apply(records, putObject("a", body, version));
    };
    await put(randomHex(), inline("first"), "first");
    let writing = true;
    const writes = (async () => {
      for (const { blob, version } of puts) {
        await put(version, inBlob(blob), blob);
        const next = randomHex();
        await put(next, inline(next), next);
      }
      writing = false;
    })();
    let reads = 0;
    while (writing) {
      const { record, body } = (await records.objectWithBody(bucket, "a"))!;
      assert(body.storage !== "parts");
      const stored = body.storage === "blob" ? body.blob.id : Buffer.from(body.bytes).toString();
      assert.equal(stored, expected.get(record.version));
      if (reads++ % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    await writes;
    assert(reads > 0);
  });

  await t.test("every read after a resolved commit sees the committed change", async () => {
    const { records } = await emptyBucket(ports);
    for (let round = 0; round < 20; round++) {
      const record = objectRecord("a", { size: round });
      await apply(records, { kind: "put object", record, body: inline(`${round}`) });
      assert.equal((await records.object(bucket, "a"))?.version, record.version);
      await apply(records, { kind: "delete object", key: "a" });
      assert.equal(await records.object(bucket, "a"), undefined);
    }
  });
};

/** Replaces the blob id of a body; a body without a blob is returned unchanged. */
function withBlob(body: Body, id: string): Body {
  return body.storage === "blob" ? { storage: "blob", blob: { id, size: body.blob.size } } : body;
}
