// Checks an assets directory before any process serves it, so that each fault is reported once.
import { type DirectoryOptions, readAssetDirectory } from "./asset-directory.ts";

const maxWarnings = 20;

/** Throws an AssetsError when the directory cannot be served. */
export async function inspectAssets(options: DirectoryOptions, log: (line: string) => void): Promise<void> {
  const { warnings } = await readAssetDirectory(options);
  for (const warning of warnings.slice(0, maxWarnings)) log(warning);
  if (warnings.length > maxWarnings) log(`And ${warnings.length - maxWarnings} more such warnings.`);
}
