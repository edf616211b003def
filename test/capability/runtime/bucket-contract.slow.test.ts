// Runs the contract of the binding and the sentences of the spec inside workerd, whose buckets are
// endpoints of this process on Unix sockets.
import { test } from "node:test";
import { bucketListenOptions, createBucketCapability } from "../../../src/capability/bucket/bucket-capability.ts";
import { findWorkerd, needsWorkerd } from "../../support/workerd.ts";
import { bucketDifferences } from "./bucket-differences.ts";
import { reportOutcomes } from "./differences.ts";
import { runInRuntime } from "./start-workerd.ts";

const workerd = findWorkerd();

test("buckets of the runtime fulfil the binding's contract", needsWorkerd(workerd), async (t) => {
  const outcomes = await runInRuntime(t, workerd!.binary, {
    file: "bucket-suite.ts",
    kind: "bucket",
    slots: 1500,
    createEndpoint: (engine, { name }) => createBucketCapability({ engine, bucket: name }),
    listenOptions: bucketListenOptions,
  });
  await reportOutcomes(t, outcomes, bucketDifferences);
});
