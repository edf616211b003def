// Runs the contracts of the ports, the engine and the binding on the started cluster. Each test
// file runs in its own process and gets the cluster's addresses in an environment variable.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { fileURLToPath } from "node:url";
import { addressesOf, type Environment } from "./environment.ts";

const patience = 540_000;

/** Environment variable with the cluster's addresses. */
export const addressVariable = "STORE_TEST_CLUSTER";

export async function runContracts(environment: Environment): Promise<void> {
  process.env[addressVariable] = JSON.stringify(addressesOf(environment));
  const folder = fileURLToPath(new URL("./contracts/", import.meta.url));
  const files = readdirSync(folder)
    .filter((name) => name.endsWith(".test.js"))
    .map((name) => join(folder, name));
  const passed = new Map<string, number>();
  const failed: string[] = [];
  const tests = run({ files, concurrency: 2, timeout: patience });
  tests.on("test:fail", ({ name }) => failed.push(name));
  tests.on("test:pass", ({ name }) => passed.set(name, (passed.get(name) ?? 0) + 1));
  tests.compose(new spec()).pipe(process.stdout);
  await new Promise((resolve) => tests.once("end", resolve));
  // A contract without a result has not passed: its test file may have ended early.
  const missing = titles.filter((title) => !passed.has(title));
  if (passed.get("cluster") !== 2) missing.push("binding or spec");
  if (failed.length + missing.length > 0) {
    throw new Error(`Contracts failed on the cluster: ${[...failed, ...missing].join(", ")}`);
  }
}

const titles = [
  "the records port in cluster fulfils its contract",
  "the blobs port in cluster fulfils its contract",
  "the engine on cluster fulfils its contract",
  "key-value namespaces on cluster fulfil their contract",
  "writes of one process are visible to another process on the same cluster",
];
