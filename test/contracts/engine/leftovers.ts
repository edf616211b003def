// Engine contract: after a sweep exactly the referenced blobs remain.
import assert from "node:assert/strict";
import type { Engine } from "../../../src/engine/engine.ts";
import { sampleBytes } from "../../support/bytes.ts";
import { blobsLeft, bucket, type Chapter, emptied, failsWith, probe, uploadParts } from "./setup.ts";

const large = () => sampleBytes(9000);

export const leftovers: Chapter = async (t, shared) => {
  async function leaves(what: string, count: number, act: (engine: Engine) => Promise<void>): Promise<void> {
    await t.test(what, async () => {
      await act((await emptied(shared)).engine);
      assert.equal(await blobsLeft(shared), count);
    });
  }

  async function multipart(engine: Engine, key: string, ...numbers: number[]): Promise<void> {
    const upload = await engine.createUpload(bucket, key);
    const bodies = Object.fromEntries(numbers.map((number) => [number, large()]));
    await engine.completeUpload(bucket, upload, await uploadParts(engine, upload, bodies));
  }

  await leaves("an object that is overwritten five times leaves one blob", 1, async (engine) => {
    for (let i = 0; i < 5; i++) await engine.put(bucket, "a", large());
  });

  await leaves(
    "a large object overwritten by an object with an inline body leaves no blob",
    0,
    async (engine) => {
      await engine.put(bucket, "a", large());
      await engine.put(bucket, "a", sampleBytes(1));
    },
  );

  await leaves(
    "an object with parts overwritten by a put leaves only the blob of the put",
    1,
    async (engine) => {
      await multipart(engine, "a", 1, 2, 3);
      await engine.put(bucket, "a", large());
    },
  );

  await leaves(
    "an object overwritten by a completed upload leaves only the upload's parts",
    2,
    async (engine) => {
      await engine.put(bucket, "a", large());
      await multipart(engine, "a", 1, 2, 3);
      await multipart(engine, "a", 1, 2);
    },
  );

  await leaves("deleted objects leave no blobs", 0, async (engine) => {
    await engine.put(bucket, "a", large());
    await engine.put(bucket, "b", large());
    await multipart(engine, "c", 1, 2, 3);
    await engine.delete(bucket, ["a", "c", "a"]);
    await engine.delete(bucket, ["b"]);
  });

  await leaves("deleting an object keeps the blobs of all other objects", 3, async (engine) => {
    await engine.put(bucket, "a", large());
    await engine.put(bucket, "b", large());
    await multipart(engine, "c", 1, 2);
    await engine.delete(bucket, ["a", "missing"]);
  });

  await leaves("failed puts leave no blobs", 0, async (engine) => {
    const checksum = { algorithm: "sha256", value: new Uint8Array(32) } as const;
    await assert.rejects(engine.put(bucket, "a", large(), { checksums: [checksum] }), failsWith("BadDigest"));
    await assert.rejects(engine.put(bucket, "a", probe(large(), { failure: new Error("broke off") })));
    await assert.rejects(engine.put(bucket, "a", probe(large(), { length: 9001 })));
    await assert.rejects(engine.put(bucket, "a", probe(large(), { length: 8999 })));
  });

  await leaves("failed encrypted puts leave no blobs", 0, async (engine) => {
    const customerKey = sampleBytes(32);
    const failing = probe(sampleBytes(200_000), { failure: new Error("broke off") });
    await assert.rejects(engine.put(bucket, "a", failing, { customerKey }));
    const short = probe(sampleBytes(200_000), { length: 200_001 });
    await assert.rejects(engine.put(bucket, "a", short, { customerKey }));
  });

  await leaves("a put refused before its body is read leaves only the existing blob", 1, async (engine) => {
    await engine.put(bucket, "a", large());
    const condition = { etagDoesNotMatch: "*" } as const;
    for (const source of [large(), probe(large())]) {
      assert.equal((await engine.put(bucket, "a", source, { condition })).outcome, "refused");
    }
  });

  await leaves(
    "a put refused after its body was read leaves only the blob of the concurrent put",
    1,
    async (engine) => {
      const condition = { etagDoesNotMatch: "*" } as const;
      let interfered = false;
      const overtaken = probe(large(), {
        async gate() {
          if (interfered) return;
          interfered = true;
          assert.equal((await engine.put(bucket, "a", large())).outcome, "stored");
        },
      });
      const outcome = await engine.put(bucket, "a", overtaken, { condition });
      assert.deepEqual(outcome, { outcome: "refused", clause: "etagDoesNotMatch" });
    },
  );

  await leaves("an aborted upload leaves no blobs", 0, async (engine) => {
    const upload = await engine.createUpload(bucket, "a");
    await uploadParts(engine, upload, { 1: large(), 2: sampleBytes(1), 3: sampleBytes(0) });
    await engine.abortUpload(bucket, upload);
    await engine.abortUpload(bucket, upload);
  });

  await leaves("a part that is uploaded again leaves only the blob of the last upload", 1, async (engine) => {
    const upload = await engine.createUpload(bucket, "a");
    for (let i = 0; i < 4; i++) await uploadParts(engine, upload, { 1: large() });
  });

  await leaves(
    "an upload completed with some of its parts leaves only the blobs of these parts",
    2,
    async (engine) => {
      const upload = await engine.createUpload(bucket, "a");
      const bodies = { 1: large(), 2: large(), 3: large(), 4: large() };
      const parts = await uploadParts(engine, upload, bodies);
      await engine.completeUpload(bucket, upload, [parts[3]!, parts[1]!]);
    },
  );

  await leaves(
    "a part whose upload is aborted while the part is received leaves no blob",
    0,
    async (engine) => {
      const upload = await engine.createUpload(bucket, "a");
      await uploadParts(engine, upload, { 1: large() });
      const overtaken = probe(large(), { gate: () => engine.abortUpload(bucket, upload) });
      await assert.rejects(engine.uploadPart(bucket, upload, 1, overtaken), failsWith("NoSuchUpload"));
    },
  );

  await leaves("an upload whose completion was refused keeps its parts", 2, async (engine) => {
    const upload = await engine.createUpload(bucket, "a");
    const parts = await uploadParts(engine, upload, { 1: large(), 2: sampleBytes(9) });
    const wrong = [...parts, { number: 3, etag: "" }];
    await assert.rejects(engine.completeUpload(bucket, upload, wrong), failsWith("InvalidPart"));
  });
};
