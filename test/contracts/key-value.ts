// Runs all contracts of key-value namespaces on an implementation.
import { describe } from "node:test";
import type { Implementation } from "../support/stores.ts";
import { bulkContract } from "./key-value/bulk.ts";
import { deleteContract } from "./key-value/delete.ts";
import { expiryContract } from "./key-value/expiry.ts";
import { getContract } from "./key-value/get.ts";
import { keysContract } from "./key-value/keys.ts";
import { listContract } from "./key-value/list.ts";
import { namespacesContract } from "./key-value/namespaces.ts";
import { putContract } from "./key-value/put.ts";
import { racesContract } from "./key-value/races.ts";
import { createScenes } from "./key-value/scene.ts";

export function kvContract(implementation: Pick<Implementation, "name" | "open">): void {
  describe(`key-value namespaces on ${implementation.name} fulfil their contract`, () => {
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
