// Runs the contract of key-value namespaces inside workerd, whose namespaces are endpoints of this
// process on Unix sockets.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createBucketCapability } from "../../../src/capability/bucket/bucket-capability.ts";
import { createKvCapability } from "../../../src/capability/kv/kv-capability.ts";
import { findRuntime } from "../../../src/script/sandbox/runtime/find-runtime.ts";
import { root } from "../../cli/store.ts";
import { reportOutcomes } from "./differences.ts";
import { kvDifferences } from "./kv-differences.ts";
import { runInRuntime } from "./start-workerd.ts";

const search = findRuntime([root]);
const skip = search.kind === "missing" && search.message;

test("namespaces of the runtime fulfil their contract", { skip }, async (t) => {
  assert.ok(search.kind === "found");
  const outcomes = await runInRuntime(t, search.runtime.binary, {
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
