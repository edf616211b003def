// When access keys were last used: told together, written down at most once an hour, and never for a key that is gone.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { createMemoryRecords } from "../../../src/memory/records.ts";
import { createCredentials } from "../../../src/s3/auth/credentials.ts";
import { createKeyUses, createUseReporter, type Uses } from "../../../src/s3/auth/key-usage.ts";

const start = Date.UTC(2026, 10, 15);
const hour = 3600_000;

test("a process tells of all keys that were used together, each with its last use", () => {
  const told: Uses[] = [];
  let time = start;
  const teller = createUseReporter(
    (uses) => told.push(uses),
    () => time,
  );
  teller.flush();
  for (const key of ["A", "B", "A"]) {
    teller.record(key);
    time++;
  }
  teller.flush();
  teller.flush();
  assert.deepEqual(told, [
    [
      ["A", start + 2],
      ["B", start + 1],
    ],
  ]);
});

test("a key's last use is written once an hour and at the end, and goes with the key", async () => {
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
  // What came before a write was due is written with it.
  assert.deepEqual([writes.length <= 3, await lastUsed()], [true, start + hour + 5]);

  const next = createKeyUses(counted);
  const before = writes.length;
  next.record([[accessKeyId, start + hour + 10]]);
  next.record([[accessKeyId, start + 2 * hour + 4]]);
  await next.close();
  assert.equal(writes.length, before + 1, "another server knows what is written, and writes at its end");
  assert.equal(await lastUsed(), start + 2 * hour + 4);

  await credentials.delete(accessKeyId);
  uses.record([[accessKeyId, start + 9 * hour]]);
  await uses.close();
  assert.deepEqual(await documents.list("credential use"), []);
});
