// Runs the contract of the binding and the sentences of the spec inside workerd, whose buckets are
// endpoints of this process on Unix sockets.
import { test } from "node:test";
import { parseCompatibility } from "../../../src/binding/compatibility.ts";
import {
  bucketListenOptions,
  createBucketCapability,
} from "../../../src/capability/bucket/bucket-capability.ts";
import { bucketDifferences } from "./bucket-differences.ts";
import { reportOutcomes } from "./differences.ts";
import { runInRuntime } from "./run-in-runtime.ts";

test("buckets of the runtime fulfil the binding's contract", async (t) => {
  const outcomes = await runInRuntime(t, {
    file: "bucket-suite.ts",
    slots: { bucket: 1500, kv: 0 },
    createEndpoint: (engine, { name, options }) => {
      const listing = parseCompatibility(options?.compatibilityDate, options?.compatibilityFlags);
      return createBucketCapability({ engine, bucket: name, listing });
    },
    listenOptions: bucketListenOptions,
  });
  await reportOutcomes(t, outcomes, bucketDifferences);
});
