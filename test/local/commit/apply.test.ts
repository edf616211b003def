// The writer's transaction refuses changes that it does not know, instead of ignoring them.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { createApplier } from "../../../src/local/commit/apply.ts";
import type { WireChange } from "../../../src/local/commit/change.ts";
import { openBucketDatabase } from "../../../src/local/index/migrations.ts";
import { createBucketDatabase } from "../../../src/local/index/new-database.ts";
import { emptyBucket, commit as memoryCommit } from "../../../src/memory/commit.ts";
import type { StoreError } from "../../../src/model/errors.ts";
import { temporaryDirectory } from "../../support/stores.ts";

const unknown = { kind: "put something" } as never;

function isRefusal(error: unknown): boolean {
  const { reason, cause } = error as StoreError;
  return reason === "InternalError" && /Unknown kind: put something/.test((cause as Error).message);
}

test("a mutation or a check of an unknown kind fails its commit in a directory", async (t) => {
  const path = join(await temporaryDirectory(t), "records.db");
  createBucketDatabase(path);
  const database = openBucketDatabase(path, "writer");
  t.after(() => database.close());
  const applier = createApplier(database);
  const change: WireChange = { checks: [], mutations: [], protection: undefined, onlyFreesSpace: false };
  applier.isDeleted();
  assert.deepEqual(applier.apply([change]), ["committed"]);
  assert.throws(() => applier.apply([{ ...change, mutations: [unknown] }]), isRefusal);
  assert.throws(() => applier.apply([{ ...change, checks: [unknown] }]), isRefusal);
});

test("a mutation or a check of an unknown kind fails its commit in memory", () => {
  const record = { name: "bucket", created: 0, storageClass: "Standard", account: "default" } as const;
  const bucket = emptyBucket(record);
  assert.throws(() => memoryCommit(bucket, { mutations: [unknown] }), isRefusal);
  assert.throws(() => memoryCommit(bucket, { checks: [unknown], mutations: [] }), isRefusal);
});
