// Engine contract: concurrent puts, reads, uploads and deletes of one key.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { assertBytes, collect, sampleBytes } from "../../support/bytes.ts";
import {
  blobsLeft,
  bucket,
  type Chapter,
  contentOf,
  emptied,
  failsWith,
  probe,
  uploadParts,
} from "./setup.ts";

const md5 = (bytes: Uint8Array) => createHash("md5").update(bytes).digest("hex");

export const races: Chapter = async (t, shared) => {
  await t.test("exactly one of many concurrent create-only puts is stored", async () => {
    const opened = await emptied(shared);
    const { engine } = opened;
    const condition = { etagDoesNotMatch: "*" } as const;
    const outcomes = await Promise.all(
      Array.from({ length: 30 }, (_, i) =>
        engine.put(bucket, "a", probe(Buffer.alloc(9000, i)), { condition }),
      ),
    );
    const stored = outcomes.filter(({ outcome }) => outcome === "stored");
    assert.equal(stored.length, 1);
    for (const refused of outcomes.filter((outcome) => outcome !== stored[0])) {
      assert.deepEqual(refused, { outcome: "refused", clause: "etagDoesNotMatch" });
    }
    assertBytes(await contentOf(engine, "a"), Buffer.alloc(9000, outcomes.indexOf(stored[0]!)));
    assert.equal(await blobsLeft(opened), 1);
  });

  await t.test("exactly one of many concurrent puts conditional on the same etag is stored", async () => {
    const { engine } = await emptied(shared);
    const first = await engine.put(bucket, "a", Buffer.from("first"));
    assert(first.outcome === "stored");
    const condition = { etagMatches: [{ value: first.record.etag, weak: false }] };
    const outcomes = await Promise.all(
      Array.from({ length: 30 }, (_, i) => engine.put(bucket, "a", Buffer.from(`${i}`), { condition })),
    );
    const winners = outcomes.flatMap(({ outcome }, i) => (outcome === "stored" ? [i] : []));
    assert.equal(winners.length, 1);
    assert.equal((await contentOf(engine, "a")).toString(), `${winners[0]}`);
  });

  await t.test(
    "concurrent unconditional puts all succeed, and the stored object is from one of them",
    async () => {
      const opened = await emptied(shared);
      const { engine } = opened;
      const outcomes = await Promise.all(
        Array.from({ length: 30 }, (_, i) => engine.put(bucket, "a", Buffer.alloc(9000, i))),
      );
      const versions = outcomes.map((put) => (put.outcome === "stored" ? put.record.version : undefined));
      assert.equal(new Set(versions).size, 30);
      const left = versions.indexOf((await engine.head(bucket, "a"))?.version);
      assertBytes(await contentOf(engine, "a"), Buffer.alloc(9000, left));
      assert.equal(await blobsLeft(opened), 1);
    },
  );

  await t.test("a read in progress returns one version, despite overwrites and sweeps", async () => {
    const { engine } = await emptied(shared);
    await engine.put(bucket, "a", sampleBytes(100_000));
    let writing = true;
    const write = async () => {
      for (let round = 0; round < 12; round++) {
        if (round % 3 === 2) {
          const upload = await engine.createUpload(bucket, "a");
          const body = Buffer.alloc(70_000, round);
          await engine.completeUpload(
            bucket,
            upload,
            await uploadParts(engine, upload, { 1: body, 2: body }),
          );
        } else {
          await engine.put(bucket, "a", Buffer.alloc(100_000 + round, round));
        }
        await engine.sweep();
      }
      writing = false;
    };
    const read = async () => {
      while (writing) {
        const got = await engine.get(bucket, "a");
        assert(got.outcome === "found");
        const content = await collect(got.bytes.chunks());
        assert.equal(content.length, got.record.size);
        if (got.record.checksums.md5 !== undefined) assert.equal(md5(content), got.record.etag);
        else assertBytes(content, Buffer.alloc(140_000, content[0]));
      }
    };
    await Promise.all([write(), read(), read(), read()]);
  });

  await t.test("exactly one of a concurrent complete and abort succeeds", async () => {
    const opened = await emptied(shared);
    const { engine } = opened;
    let expected = 0;
    for (let round = 0; round < 6; round++) {
      const key = `k${round}`;
      const upload = await engine.createUpload(bucket, key);
      const parts = await uploadParts(engine, upload, { 1: sampleBytes(9000) });
      const complete = () => engine.completeUpload(bucket, upload, parts);
      const abort = () => engine.abortUpload(bucket, upload);
      const calls = round % 2 === 0 ? [complete(), abort()] : [abort(), complete()];
      const outcomes = await Promise.allSettled(calls);
      const completed = outcomes.at(round % 2)!;
      assert.equal(outcomes.at(1 - (round % 2))?.status, "fulfilled");
      if (completed.status === "fulfilled") {
        assertBytes(await contentOf(engine, key), sampleBytes(9000));
        expected++;
      } else {
        assert.equal(completed.reason.reason, "NoSuchUpload");
        assert.equal(await engine.head(bucket, key), undefined);
      }
    }
    assert.equal(await blobsLeft(opened), expected);
  });

  await t.test("exactly one of several concurrent completes of an upload succeeds", async () => {
    const opened = await emptied(shared);
    const { engine } = opened;
    const upload = await engine.createUpload(bucket, "a");
    const parts = await uploadParts(engine, upload, { 1: sampleBytes(9000), 2: sampleBytes(9000) });
    const outcomes = await Promise.allSettled(
      Array.from({ length: 10 }, () => engine.completeUpload(bucket, upload, parts)),
    );
    const completed = outcomes.filter(({ status }) => status === "fulfilled");
    assert.equal(completed.length, 1);
    for (const outcome of outcomes) {
      if (outcome.status === "rejected") assert.equal(outcome.reason.reason, "NoSuchUpload");
    }
    assert.equal((await contentOf(engine, "a")).length, 18_000);
    assert.equal(await blobsLeft(opened), 2);
  });

  await t.test(
    "a part replaced while its upload completes is in the object completely or not at all",
    async () => {
      const opened = await emptied(shared);
      const { engine } = opened;
      for (let round = 0; round < 6; round++) {
        const upload = await engine.createUpload(bucket, "a");
        const [before, after] = [Buffer.alloc(9000, 1), Buffer.alloc(9000, 2)];
        const parts = await uploadParts(engine, upload, { 1: before });
        const [completed] = await Promise.allSettled([
          engine.completeUpload(bucket, upload, parts),
          engine.uploadPart(bucket, upload, 1, after).catch((error) => {
            assert.equal(error.reason, "NoSuchUpload");
          }),
        ]);
        if (completed.status === "fulfilled") assertBytes(await contentOf(engine, "a"), before);
        else assert.equal(completed.reason.reason, "InvalidPart");
        await engine.abortUpload(bucket, upload);
        await engine.delete(bucket, ["a"]);
      }
      assert.equal(await blobsLeft(opened), 0);
    },
  );

  await t.test("concurrent uploads of one part number leave exactly one of the parts", async () => {
    const opened = await emptied(shared);
    const { engine } = opened;
    const upload = await engine.createUpload(bucket, "a");
    const bodies = Array.from({ length: 10 }, (_, i) => Buffer.alloc(9000, i));
    const parts = await Promise.all(bodies.map((body) => engine.uploadPart(bucket, upload, 1, body)));
    const outcomes = await Promise.allSettled(
      parts.map((part) => engine.completeUpload(bucket, upload, [part])),
    );
    assert.equal(outcomes.filter(({ status }) => status === "fulfilled").length, 1);
    assert.equal((await contentOf(engine, "a")).length, 9000);
    assert.equal(await blobsLeft(opened), 1);
    const again = engine.completeUpload(bucket, upload, [parts[0]!]);
    await assert.rejects(again, failsWith("NoSuchUpload"));
  });
};
