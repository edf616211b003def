// Installs what is not there yet, as Debian packages it. What cannot be installed is told in the package manager's
// own words; whoever asked looks at what is there then, and says what was not tested.
import { spawnSync } from "node:child_process";

/** Asked again after each try: what it names is wanted and not there. */
export function installFromDebian(missing: () => readonly string[]): void {
  const wanted = missing();
  if (wanted.length === 0) return;
  const root = asRoot();
  if (root === undefined) {
    console.error(`Cannot install ${wanted.join(", ")}: this is not root, and sudo is not there or asks`);
    return;
  }
  const until = Date.now() + patienceMilliseconds;
  if (install(root, wanted, until)) return;
  // Its lists may be old or not there at all. One by one then, so that one package does not keep out the others.
  aptGet(root, ["update"], until);
  for (const name of missing()) install(root, [name], until);
}

/** For all of it: without a network each package would be waited for. */
const patienceMilliseconds = 6 * 60_000;

/** What to put in front of a command so that root runs it. */
export function asRoot(): readonly string[] | undefined {
  if (process.getuid?.() === 0) return [];
  return spawnSync("sudo", ["-n", "true"]).status === 0 ? ["sudo", "-n"] : undefined;
}

function install(root: readonly string[], names: readonly string[], until: number): boolean {
  // A package's settings that are there already stay as they are.
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
