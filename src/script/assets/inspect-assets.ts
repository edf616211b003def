// Looks at an assets directory before any process serves it, so that what is wrong with it is reported once.
import { join } from "node:path";
import type { AssetsOptions } from "../bindings.ts";
import { readAssetDirectory, ruleFiles } from "./asset-directory.ts";

const maxWarnings = 20;

/** Throws an AssetsError when the directory cannot be served. */
export async function inspectAssets(options: AssetsOptions, log: (line: string) => void): Promise<void> {
  const { warnings } = await readAssetDirectory(options);
  for (const warning of warnings.slice(0, maxWarnings)) log(warning);
  if (warnings.length > maxWarnings) log(`And ${warnings.length - maxWarnings} more such warnings.`);
}

/** Files that change how the assets are served. */
export function assetRuleFiles({ directory }: AssetsOptions): string[] {
  return ruleFiles.map((name) => join(directory, name));
}
