import assert from "node:assert/strict";
import { test } from "node:test";
import { createEngine } from "../../../src/engine/create.ts";
import { createMemoryBlobs } from "../../../src/memory/blobs.ts";
import { createMemoryRecords } from "../../../src/memory/records.ts";

const bucket = "bucket";

test("a list of uploads with a delimiter skips the rest of a large group", async () => {
  const records = createMemoryRecords();
  let scans = 0;
  const counted: typeof records = {
    ...records,
    uploads(...args) {
      scans++;
      return records.uploads(...args);
    },
  };
  const engine = createEngine({ records: counted, blobs: createMemoryBlobs() });
  await engine.createBucket(bucket);
  for (let index = 0; index < 6000; index++) await engine.createUpload(bucket, `a/${index}`);
  for (const key of ["a/\u{10ffff}/last", "b", "c/1"]) await engine.createUpload(bucket, key);

  scans = 0;
  const whole = await engine.listUploads(bucket, { delimiter: "/" });
  assert.deepEqual([whole.prefixes, whole.uploads.map(({ key }) => key)], [["a/", "c/"], ["b"]]);
  assert.ok(scans <= 2, `${scans} scans`);

  scans = 0;
  const first = await engine.listUploads(bucket, { delimiter: "/", limit: 1 });
  assert.deepEqual([first.prefixes, first.uploads], [["a/"], []]);
  const second = await engine.listUploads(bucket, { delimiter: "/", after: first.next });
  assert.deepEqual([second.prefixes, second.uploads.map(({ key }) => key)], [["c/"], ["b"]]);
  assert.ok(scans <= 4, `${scans} scans`);
  await engine.close();
});
