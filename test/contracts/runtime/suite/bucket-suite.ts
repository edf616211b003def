// The contracts of buckets, as a worker that runs them.
import { bindingContract } from "../../binding.ts";
import { specContract } from "../../spec.ts";
import { describe } from "./node-test.ts";
import { remoteStores, type SuiteEnvironment } from "./remote-store.ts";
import { createRun } from "./run.ts";

let environment: SuiteEnvironment | undefined;
const stores = remoteStores(() => environment!);

describe("binding", () => bindingContract(stores));
describe("spec", () => specContract(stores));

export const run = createRun((found) => {
  environment = found;
});
