// Settings of a bucket: read again after a change by any process, whatever their texts contain, and
// damage is reported.
import assert from "node:assert/strict";
import { test } from "node:test";
import { DatabaseSync } from "@photostructure/sqlite";
import { bucketPaths, dataLayout } from "../../../../src/local/disk/layout.ts";
import type { BucketSettings } from "../../../../src/model/bucket.ts";
import { openEngine } from "../../../../src/open.ts";
import { bucketIds } from "../../../support/disk/on-disk.ts";
import { temporaryDirectory } from "../../../support/stores.ts";

const rule = (origin: string) => ({ origins: [origin], methods: ["GET"], headers: [], exposed: [] }) as const;
const policy = (resource: string) =>
  JSON.stringify({
    Version: "2012-10-17",
    Statement: [
      {
        Effect: "Deny",
        Principal: "*",
        Action: "s3:DeleteObject",
        Resource: `arn:aws:s3:::photos/${resource}`,
      },
    ],
  });

const changes: readonly BucketSettings[] = [
  { policy: policy("o'clock''/*") },
  { policy: policy("o'clock''/*"), quota: { bytes: 10_000 } },
  { cors: [rule("https://a.example'--")] },
  { cors: [rule("https://é🔑.example")] },
  // More text than a statement may contain.
  { cors: Array.from({ length: 900 }, (_, i) => rule(`https://${"long".repeat(100)}${i}.example`)) },
  { tags: [["team", "storage"]] },
];

test("another process sees each change of the settings, also while objects are put", async (t) => {
  const directory = await temporaryDirectory(t);
  const { engine: reader } = await openEngine(directory);
  const { engine: other } = await openEngine(directory);
  t.after(() => Promise.all([reader.close(), other.close()]));
  await other.createBucket("photos");
  assert.deepEqual((await reader.bucket("photos"))?.settings, {});
  for (const change of changes) {
    await other.changeSettings("photos", change);
    const expected = (await other.bucket("photos"))?.settings;
    for (const name of Object.keys(change) as (keyof BucketSettings)[])
      assert.deepEqual(expected?.[name], change[name]);
    for (let i = 0; i < 3; i++) {
      await other.put("photos", `key ${i}`, Buffer.from("x"));
      assert.deepEqual((await reader.bucket("photos"))?.settings, expected);
    }
  }
});

test("settings that did not change are not parsed again, however long they are", async (t) => {
  const directory = await temporaryDirectory(t);
  const { engine } = await openEngine(directory);
  t.after(() => engine.close());
  await engine.createBucket("photos");
  for (const change of changes) await engine.changeSettings("photos", change);
  await engine.changeSettings("photos", { cors: changes[4]!.cors, tags: [["team", "a"]] });
  const before = (await engine.bucket("photos"))!.settings;
  assert.ok(JSON.stringify(before).length > 256 * 1024);
  await engine.put("photos", "key", Buffer.from("x"));
  const written = (await engine.bucket("photos"))!.settings;
  assert.equal(written.cors, before.cors);
  assert.equal(written.policy, before.policy);
  await engine.changeSettings("photos", { tags: [["team", "b"]] });
  const changed = (await engine.bucket("photos"))!.settings;
  assert.equal(changed.cors, before.cors);
  assert.deepEqual(changed.tags, [["team", "b"]]);
});

test("damaged settings are reported at every read", async (t) => {
  const directory = await temporaryDirectory(t);
  const { engine } = await openEngine(directory);
  t.after(() => Promise.all([engine.close()]));
  await engine.createBucket("photos");
  await engine.changeSettings("photos", { cors: [rule("https://a.example")] });
  const path = bucketPaths(dataLayout(directory), bucketIds(directory).get("photos")!).database;
  for (const damage of ["cors = NULL", "cors = replace(cors, 'a.example', 'b.example')", "cors = x'00'"]) {
    const database = new DatabaseSync(path);
    database.exec(`UPDATE bucket SET ${damage}`);
    database.close();
    for (let i = 0; i < 2; i++) await assert.rejects(engine.bucket("photos"), { reason: "Damaged" });
  }
});
