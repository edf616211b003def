// Finds the runtime of sandboxed scripts for tests. Store does not depend on it: it is installed
// next to Store, or in the folder that STORE_TEST_WORKERD names.
import { symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { root } from "../cli/store.ts";

export interface InstalledWorkerd {
  /** The folder node_modules with the package. */
  readonly modules: string;
  /** Path of the executable. */
  readonly binary: string;
}

/** Returns undefined if the package is not installed. */
export function findWorkerd(): InstalledWorkerd | undefined {
  const directory = process.env.STORE_TEST_WORKERD ?? root;
  const { arch, platform } = process;
  const name = `@cloudflare/workerd-${platform}-${arch === "x64" ? "64" : arch}`;
  try {
    const resolve = createRequire(join(directory, "package.json")).resolve;
    const main = resolve("workerd/package.json");
    const binary = join(dirname(createRequire(main).resolve(`${name}/package.json`)), "bin/workerd");
    return { modules: dirname(dirname(main)), binary };
  } catch {
    return undefined;
  }
}

/** Options of a test that needs the runtime. */
export function needsWorkerd(installed: InstalledWorkerd | undefined): { readonly skip: string | false } {
  const hint = "NOT TESTED: workerd is not installed; set STORE_TEST_WORKERD to a folder that has it";
  return { skip: installed === undefined && hint };
}

/** Makes the runtime available to the scripts of a folder. */
export async function linkWorkerd({ modules }: InstalledWorkerd, directory: string): Promise<void> {
  await symlink(modules, join(directory, "node_modules"));
}
