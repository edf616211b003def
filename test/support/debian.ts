// Installs missing Debian packages without starting their services. apt-get prints its own errors;
// the caller checks afterwards which packages are installed, and reports the tests that were skipped.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

/** Installs the packages that `missing` returns; `missing` is called again after each attempt. */
export function installFromDebian(missing: () => readonly string[]): void {
  const wanted = missing();
  if (wanted.length === 0) return;
  const root = asRoot();
  if (root === undefined) {
    console.error(`Cannot install ${wanted.join(", ")}: this needs root, or sudo without a password.`);
    return;
  }
  const until = Date.now() + patienceMilliseconds;
  withoutServices(() => {
    if (install(root, wanted, until)) return;
    // The package lists may be outdated. Install each package alone after the update, so that a
    // failure of one package does not prevent the installation of the others.
    aptGet(root, ["update"], until);
    for (const name of missing()) install(root, [name], until);
  });
}

const servicePolicy = "/usr/sbin/policy-rc.d";

/** Runs `work` while packages may not start services on their default ports. */
function withoutServices(work: () => void): void {
  // An existing policy file of the machine is kept.
  if (existsSync(servicePolicy)) {
    work();
    return;
  }
  runAsRoot(`printf '#!/bin/sh\\nexit 101\\n' > ${servicePolicy} && chmod 755 ${servicePolicy}`);
  try {
    work();
  } finally {
    runAsRoot(`rm -f ${servicePolicy}`);
  }
}

/** Runs a shell script as root, or as this user if that is not possible. */
export function runAsRoot(script: string): void {
  const [command, ...args] = [...(asRoot() ?? []), "sh", "-c", script];
  spawnSync(command!, args, { stdio: ["ignore", "inherit", "inherit"] });
}

/** Timeout for all packages together: without a network, each package would wait for a timeout. */
const patienceMilliseconds = 6 * 60_000;

/** Returns the prefix that runs a command as root; undefined if that is not possible. */
export function asRoot(): readonly string[] | undefined {
  if (process.getuid?.() === 0) return [];
  return spawnSync("sudo", ["-n", "true"]).status === 0 ? ["sudo", "-n"] : undefined;
}

function install(root: readonly string[], names: readonly string[], until: number): boolean {
  // Existing configuration files of a package are kept.
  const settings = ["-o", "Dpkg::Options::=--force-confold"];
  return aptGet(root, ["install", "--yes", "--no-install-recommends", ...settings, ...names], until);
}

function aptGet(root: readonly string[], args: readonly string[], until: number): boolean {
  const timeout = until - Date.now();
  if (timeout <= 0) return false;
  const patience = ["-o", "DPkg::Lock::Timeout=120", "-o", "Acquire::Retries=2"];
  const [command, ...rest] = [
    ...root,
    ...["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q", ...patience, ...args],
  ];
  console.log(`\n== apt-get ${args.join(" ")}`);
  return spawnSync(command!, rest, { stdio: ["ignore", "inherit", "inherit"], timeout }).status === 0;
}
