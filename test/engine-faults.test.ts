// Commits of which nobody knows whether they count: what the caller is told is the failure, never a guess.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createEngine } from "../src/engine/create.ts";
import type { Records } from "../src/engine/records.ts";
import { createMemoryBlobs } from "../src/memory/blobs.ts";
import { createMemoryRecords } from "../src/memory/records.ts";
import { StoreError } from "../src/model/errors.ts";
import { sampleBytes } from "./support/bytes.ts";

/** Records whose next commit is made, and its answer lost with the disk. */
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

test("a completion that the disk cut off is told as that, not as an upload that does not exist", async (t) => {
  const { records, forget } = forgettingOnce(createMemoryRecords());
  const engine = createEngine({ records, blobs: createMemoryBlobs() });
  t.after(() => engine.close());
  await engine.createBucket("bucket");
  const upload = await engine.createUpload("bucket", "key");
  const part = await engine.uploadPart("bucket", upload, 1, sampleBytes(1000));
  forget();
  await assert.rejects(engine.completeUpload("bucket", upload, [part]), { reason: "ServiceUnavailable" });
});
