// Runs the contract of the binding and the sentences of the spec inside workerd, whose buckets are
// endpoints of this process on Unix sockets.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  bucketListenOptions,
  createBucketCapability,
} from "../../../src/capability/bucket/bucket-capability.ts";
import { findRuntime } from "../../../src/script/sandbox/runtime/find-runtime.ts";
import { root } from "../../cli/store.ts";
import { bucketDifferences } from "./bucket-differences.ts";
import { reportOutcomes } from "./differences.ts";
import { runInRuntime } from "./start-workerd.ts";

const search = findRuntime([root]);
const skip = search.kind === "missing" && search.message;

test("buckets of the runtime fulfil the binding's contract", { skip }, async (t) => {
  assert.ok(search.kind === "found");
  const outcomes = await runInRuntime(t, search.runtime.binary, {
    file: "bucket-suite.ts",
    slots: { bucket: 1500, kv: 0 },
    createEndpoint: (engine, { name }) => createBucketCapability({ engine, bucket: name }),
    listenOptions: bucketListenOptions,
  });
  await reportOutcomes(t, outcomes, bucketDifferences);
});
