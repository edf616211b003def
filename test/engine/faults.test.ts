// A full disk and failed commits: if the outcome of a commit is unknown, the caller gets an error.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Blobs } from "../../src/engine/blobs.ts";
import { createEngine } from "../../src/engine/create.ts";
import type { Records } from "../../src/engine/records.ts";
import { createMemoryBlobs } from "../../src/memory/blobs.ts";
import { createMemoryRecords } from "../../src/memory/records.ts";
import { StoreError } from "../../src/model/errors.ts";
import { sampleBytes } from "../support/bytes.ts";

/** After `forget()`, the next commit is applied but rejects, as if its response was lost. */
function forgettingOnce(records: Records): { records: Records; forget(): void } {
  let forgets = false;
  return {
    forget() {
      forgets = true;
    },
    records: {
      ...records,
      async commit(bucket, change) {
        const outcome = await records.commit(bucket, change);
        if (!forgets) return outcome;
        forgets = false;
        throw new StoreError("ServiceUnavailable");
      },
    },
  };
}

test("puts on a full disk are refused before their bytes are read, also when they are retried", async (t) => {
  const blobs: Blobs = {
    ...createMemoryBlobs(),
    stage: () => Promise.reject(new StoreError("InsufficientStorage")),
  };
  const engine = createEngine({ records: createMemoryRecords(), blobs });
  t.after(() => engine.close());
  await engine.createBucket("bucket");
  const body = sampleBytes(100_000);
  for (let put = 0; put < 100; put++) {
    await assert.rejects(engine.put("bucket", "key", body), { reason: "InsufficientStorage" });
  }
});

test("a completion whose outcome is unknown fails with ServiceUnavailable, not with NoSuchUpload", async (t) => {
  const { records, forget } = forgettingOnce(createMemoryRecords());
  const engine = createEngine({ records, blobs: createMemoryBlobs() });
  t.after(() => engine.close());
  await engine.createBucket("bucket");
  const upload = await engine.createUpload("bucket", "key");
  const part = await engine.uploadPart("bucket", upload, 1, sampleBytes(1000));
  forget();
  await assert.rejects(engine.completeUpload("bucket", upload, [part]), { reason: "ServiceUnavailable" });
});

for (const [what, error, left] of [
  ["was certainly not made", new StoreError("ServiceUnavailable", { notDone: true }), 0],
  ["was refused because of damage", new StoreError("Damaged"), 0],
  ["may have been made", new StoreError("ServiceUnavailable"), 1],
  ["failed with an unexpected error", new Error("the connection was lost"), 1],
] as const) {
  test(`a put whose commit ${what} ${left === 0 ? "removes its bytes at once" : "keeps its bytes"}`, async (t) => {
    const blobs = createMemoryBlobs();
    const records: Records = { ...createMemoryRecords(), commit: () => Promise.reject(error) };
    const engine = createEngine({ records, blobs });
    t.after(() => engine.close());
    await engine.createBucket("bucket");
    const isSame = (thrown: unknown) => (thrown as Error).message.endsWith(error.message);
    await assert.rejects(engine.put("bucket", "key", sampleBytes(100_000)), isSame);
    const found = [];
    for await (const blob of blobs.all("bucket")) found.push(blob);
    assert.equal(found.length, left);
  });
}
