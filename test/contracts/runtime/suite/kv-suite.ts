// The contracts of key-value namespaces, as a worker that runs them.
import { kvContract } from "../../key-value.ts";
import { remoteStores, type SuiteEnvironment } from "./remote-store.ts";
import { createRun } from "./run.ts";

let environment: SuiteEnvironment | undefined;

kvContract(remoteStores(() => environment!));

export const run = createRun((found) => {
  environment = found;
});
