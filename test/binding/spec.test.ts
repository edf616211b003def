// Runs the tests of every sentence of the spec on every implementation.
import { specContract } from "../contracts/spec.ts";
import { implementations } from "../support/stores.ts";

for (const implementation of implementations) specContract(implementation);
