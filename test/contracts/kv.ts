// Holds an implementation to the API of key-value namespaces.
import { describe } from "node:test";
import type { Implementation } from "../support/stores.ts";
import { bulkContract } from "./kv/bulk.ts";
import { deleteContract } from "./kv/delete.ts";
import { expiryContract } from "./kv/expiry.ts";
import { getContract } from "./kv/get.ts";
import { keysContract } from "./kv/keys.ts";
import { listContract } from "./kv/list.ts";
import { namespacesContract } from "./kv/namespaces.ts";
import { putContract } from "./kv/put.ts";
import { racesContract } from "./kv/races.ts";
import { createScenes } from "./kv/scene.ts";

export function kvContract(implementation: Implementation): void {
  describe(`key-value namespaces on ${implementation.name}`, () => {
    const scenes = createScenes(implementation);
    namespacesContract(scenes);
    keysContract(scenes);
    getContract(scenes);
    bulkContract(scenes);
    putContract(scenes);
    deleteContract(scenes);
    listContract(scenes);
    expiryContract(scenes);
    racesContract(scenes);
  });
}
