// Runs the contract of key-value namespaces inside workerd, whose namespaces are endpoints of this
// process on Unix sockets.
import { test } from "node:test";
import { createKvCapability } from "../../../src/capability/kv/kv-capability.ts";
import { findWorkerd, needsWorkerd } from "../../support/workerd.ts";
import { reportOutcomes } from "./differences.ts";
import { kvDifferences } from "./kv-differences.ts";
import { runInRuntime } from "./start-workerd.ts";

const workerd = findWorkerd();

test("namespaces of the runtime fulfil their contract", needsWorkerd(workerd), async (t) => {
  const outcomes = await runInRuntime(t, workerd!.binary, {
    file: "kv-suite.ts",
    kind: "kv",
    slots: 300,
    createEndpoint: (engine, { name }) => createKvCapability({ engine, namespace: name }),
    listenOptions: { peer: "client", headerBytes: 64 * 1024 },
  });
  await reportOutcomes(t, outcomes, kvDifferences);
});
