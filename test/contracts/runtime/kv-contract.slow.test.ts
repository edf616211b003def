// Runs the contract of key-value namespaces inside workerd, whose namespaces are endpoints of this
// process on Unix sockets.
import { test } from "node:test";
import { createBucketCapability } from "../../../src/capability/bucket/bucket-capability.ts";
import { createKvCapability } from "../../../src/capability/kv/kv-capability.ts";
import { reportOutcomes } from "./differences.ts";
import { kvDifferences } from "./kv-differences.ts";
import { runInRuntime } from "./run-in-runtime.ts";

test("namespaces of the runtime fulfil their contract", async (t) => {
  const outcomes = await runInRuntime(t, {
    file: "kv-suite.ts",
    slots: { bucket: 10, kv: 300 },
    createEndpoint: (engine, { kind, name }) =>
      kind === "kv"
        ? createKvCapability({ engine, namespace: name })
        : createBucketCapability({ engine, bucket: name }),
    listenOptions: { peer: "client", headerBytes: 64 * 1024 },
  });
  await reportOutcomes(t, outcomes, kvDifferences);
});
