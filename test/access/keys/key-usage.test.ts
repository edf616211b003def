// The last use of access keys: reported in batches, stored at most once an hour.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { createCredentials } from "../../../src/access/keys/credentials.ts";
import { createKeyUses, createUseReporter, type Uses } from "../../../src/access/keys/key-usage.ts";
import { createMemoryRecords } from "../../../src/memory/records.ts";

const start = Date.UTC(2026, 10, 15);
const hour = 3600_000;

test("a worker reports all used access keys in one batch, each with the time of its last use", () => {
  const reports: Uses[] = [];
  let time = start;
  const reporter = createUseReporter(
    (uses) => reports.push(uses),
    () => time,
  );
  reporter.flush();
  for (const key of ["A", "B", "A"]) {
    reporter.record(key);
    time++;
  }
  reporter.flush();
  reporter.flush();
  assert.deepEqual(reports, [
    [
      ["A", start + 2],
      ["B", start + 1],
    ],
  ]);
});

test("the time of an access key's last use is stored hourly and on close, and deleted with the key", async () => {
  const { documents } = createMemoryRecords();
  const writes: number[] = [];
  const counted: typeof documents = {
    ...documents,
    async put(kind, name, text, seen) {
      writes.push(Number(text));
      return documents.put(kind, name, text, seen);
    },
  };
  const credentials = createCredentials(documents, randomBytes(32), () => start);
  const { accessKeyId } = await credentials.create();
  const lastUsed = async () => (await credentials.list())[0]?.lastUsed;
  assert.equal(await lastUsed(), undefined);

  const uses = createKeyUses(counted);
  for (const after of [0, 1, hour - 1, hour, hour + 5]) uses.record([[accessKeyId, start + after]]);
  assert.equal(uses.lastUse(accessKeyId), start + hour + 5);
  uses.record([["STOREAAAAAAAAAAAAAAA", start]]);
  await uses.close();
  // All uses of a key within an hour cause one write.
  assert.deepEqual([writes.length <= 3, await lastUsed()], [true, start + hour + 5]);

  const next = createKeyUses(counted);
  const before = writes.length;
  next.record([[accessKeyId, start + hour + 10]]);
  next.record([[accessKeyId, start + 2 * hour + 4]]);
  await next.close();
  assert.equal(writes.length, before + 1, "a second server reads the stored time and writes once, on close");
  assert.equal(await lastUsed(), start + 2 * hour + 4);

  await credentials.delete(accessKeyId);
  uses.record([[accessKeyId, start + 9 * hour]]);
  await uses.close();
  assert.deepEqual(await documents.list("credential use"), []);
});
