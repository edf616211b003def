// Runs the contract suites of key-value namespaces on every implementation.
import { describe } from "node:test";
import { manyExpiredContract } from "../contracts/key-value/expiry.ts";
import { createScenes } from "../contracts/key-value/scene.ts";
import { kvContract } from "../contracts/key-value.ts";
import { implementations } from "../support/stores.ts";

for (const implementation of implementations) kvContract(implementation);

describe("a key-value namespace with many expired keys is listed in pages", () => {
  manyExpiredContract(createScenes(implementations.find(({ name }) => name === "memory")!));
});
