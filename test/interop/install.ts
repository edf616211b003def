// Installs missing clients. Tests of clients that cannot be installed are skipped with a reason,
// which the run repeats at its end.
import { installFromDebian } from "../support/debian.ts";
import { clientNames, missingPackages } from "./clients.ts";

export function installClients(): void {
  installFromDebian(() => clientNames.flatMap(missingPackages));
}
