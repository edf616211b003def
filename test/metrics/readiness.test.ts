// Whether a server is ready: what keeps it from serving is told in words that give nothing away.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createReadiness } from "../../src/cli/readiness.ts";
import { createMemoryRecords } from "../../src/memory/records.ts";
import { StoreError } from "../../src/model/errors.ts";

const { documents } = createMemoryRecords();
const up = { isUp: () => true };
const scripts = { scripts: [] };

function refusing(error: Error) {
  return { ...documents, put: () => Promise.reject(error) };
}

test("a store that takes a write is ready, and that it was asked leaves nothing that grows", async () => {
  for (let asked = 0; asked < 3; asked++) {
    const troubles = createReadiness({ documents, s3: up, scripts, log: assert.fail });
    assert.deepEqual(await troubles(), []);
  }
  assert.equal((await documents.list("housekeeping")).length, 1);
});

test("what keeps it from serving is told to anybody without where, and to the log with why, once", async () => {
  const told: string[] = [];
  const options = { s3: { isUp: () => false }, scripts, log: (line: string) => told.push(line) };
  const away = refusing(new Error("connect ECONNREFUSED 10.1.2.3:5432"));
  const troubles = createReadiness({ ...options, documents: away });
  const words = ["The store takes no writes; the server's log tells why.", "The S3 API has no process up."];
  assert.deepEqual(await troubles(), words);
  assert.deepEqual(await troubles(), words);
  assert.deepEqual(told, ["The store takes no writes: connect ECONNREFUSED 10.1.2.3:5432"]);
});

test("a full disk leaves a server ready: it reads and deletes", async () => {
  const full = refusing(new StoreError("InsufficientStorage"));
  const troubles = createReadiness({ documents: full, s3: up, scripts, log: assert.fail });
  assert.deepEqual(await troubles(), []);
});
