// Installs missing clients. Tests of clients that cannot be installed are skipped with a reason,
// which the run repeats at its end.
import { spawnSync } from "node:child_process";
import { installFromDebian } from "../support/debian.ts";
import { clientNames, missingPackages, npmFolder, npmPackages } from "./clients.ts";

export function installClients(): void {
  installFromDebian(() => allMissing().filter((name) => !isFromNpm(name)));
  if (allMissing().some(isFromNpm)) installFromNpm();
}

function allMissing(): string[] {
  return clientNames.flatMap(missingPackages);
}

function isFromNpm(name: string): boolean {
  return npmPackages.some((known) => known === name);
}

/** Installs all packages together, because npm removes those that it is not asked for. */
function installFromNpm(): void {
  const options = ["--no-save", "--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts"];
  console.log(`\n== npm install ${npmPackages.join(" ")}`);
  spawnSync("npm", ["install", ...options, "--prefix", npmFolder, ...npmPackages], {
    stdio: ["ignore", "inherit", "inherit"],
    timeout: 3 * 60_000,
  });
}
