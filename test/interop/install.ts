// Installs the clients that are not there yet, as Debian packages them. What cannot be installed is told here in
// the package manager's own words; its tests are then skipped with a reason, and named at the end.
import { spawnSync } from "node:child_process";
import { clientNames, missingPackages } from "./clients.ts";

export function installClients(): void {
  const missing = clientNames.flatMap(missingPackages);
  if (missing.length === 0) return;
  const root = asRoot();
  if (root === undefined) {
    console.error(`Cannot install ${missing.join(", ")}: this is not root, and sudo is not there or asks`);
    return;
  }
  if (install(root, missing)) return;
  // Its lists may be old or not there at all. One by one then, so that one package does not keep out the others.
  aptGet(root, ["update"]);
  for (const name of clientNames.flatMap(missingPackages)) install(root, [name]);
}

/** What to put in front of a command so that root runs it. */
function asRoot(): readonly string[] | undefined {
  if (process.getuid?.() === 0) return [];
  return spawnSync("sudo", ["-n", "true"]).status === 0 ? ["sudo", "-n"] : undefined;
}

function install(root: readonly string[], names: readonly string[]): boolean {
  return aptGet(root, ["install", "--yes", "--no-install-recommends", ...names]);
}

function aptGet(root: readonly string[], args: readonly string[]): boolean {
  const patience = ["-o", "DPkg::Lock::Timeout=120", "-o", "Acquire::Retries=2"];
  const [command, ...rest] = [
    ...root,
    ...["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q", ...patience, ...args],
  ];
  console.log(`\n== apt-get ${args.join(" ")}`);
  return spawnSync(command!, rest, { stdio: ["ignore", "inherit", "inherit"] }).status === 0;
}
