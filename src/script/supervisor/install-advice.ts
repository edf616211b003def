// Suggests how to install a missing package that a script imports.
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const dependencyFields = [
  "dependencies",
  "devDependencies",
  "optionalDependencies",
  "peerDependencies",
] as const;
/** Package managers by the lock file that each writes. */
const packageManagers = [
  ["pnpm-lock.yaml", "pnpm"],
  ["yarn.lock", "yarn"],
  ["bun.lock", "bun"],
  ["bun.lockb", "bun"],
] as const;

/** If package.json lists the package, as in a fresh clone, suggests installing everything. */
export function installAdvice(name: string, directory: string): string {
  for (let folder = directory; ; folder = dirname(folder)) {
    if (listsPackage(join(folder, "package.json"), name)) {
      const where = folder === directory ? "" : ` in ${folder}`;
      return `It is in package.json but not installed. Run${where}: ${detectPackageManager(folder)} install`;
    }
    if (dirname(folder) === folder) return `Is it installed? npm install ${name}`;
  }
}

function listsPackage(file: string, name: string): boolean {
  try {
    const content: unknown = JSON.parse(readFileSync(file, "utf8"));
    return dependencyFields.some((kind) => {
      const packages: unknown = (content as Record<string, unknown> | null)?.[kind];
      return typeof packages === "object" && packages !== null && Object.hasOwn(packages, name);
    });
  } catch {
    return false;
  }
}

function detectPackageManager(folder: string): string {
  return packageManagers.find(([lockFile]) => existsSync(join(folder, lockFile)))?.[1] ?? "npm";
}
