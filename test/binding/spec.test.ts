// Holds every implementation to the sentences of the spec.
import { specContract } from "../contracts/spec.ts";
import { implementations } from "../support/stores.ts";

for (const implementation of implementations) specContract(implementation);
