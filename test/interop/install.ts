// Installs the clients that are not there yet. The tests of what cannot be installed are skipped with a reason, and
// named at the end.
import { installFromDebian } from "../support/debian.ts";
import { clientNames, missingPackages } from "./clients.ts";

export function installClients(): void {
  installFromDebian(() => clientNames.flatMap(missingPackages));
}
