// Finds the runtime of sandboxed scripts, the npm package workerd: in the script's project, then in
// the packages next to Store itself.
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { isFields, isText } from "../../../model/shape.ts";

export interface Runtime {
  /** Absolute path of the executable. */
  readonly binary: string;
  readonly version: string;
  /** The newest compatibility date that this version supports, as `YYYY-MM-DD`. */
  readonly compatibilityDate: string;
}

/** Compatibility date of the oldest version that has everything that a sandbox needs. */
export const oldestDate = "2026-04-08";

/** The package with the executable, by platform and architecture. */
const platformPackages: Readonly<Record<string, string>> = {
  "linux x64": "@cloudflare/workerd-linux-64",
  "linux arm64": "@cloudflare/workerd-linux-arm64",
  "darwin x64": "@cloudflare/workerd-darwin-64",
  "darwin arm64": "@cloudflare/workerd-darwin-arm64",
};

export type RuntimeSearch =
  | {
      readonly kind: "found";
      readonly runtime: Runtime;
      /** Why a runtime found earlier was not taken, for the log. */
      readonly note: string | undefined;
    }
  | { readonly kind: "missing"; readonly message: string };

/**
 * `directories` are searched in order, each with the folders above it. A runtime that is too old,
 * such as that of a project's other tools, is skipped.
 */
export function findRuntime(directories: readonly string[]): RuntimeSearch {
  const platform = `${process.platform} ${process.arch}`;
  const name = platformPackages[platform];
  if (name === undefined) {
    return {
      kind: "missing",
      message: `The runtime workerd does not exist for ${platform}. Use isolation = "process" here.`,
    };
  }
  let tooOld: Runtime | undefined;
  for (const directory of directories) {
    const runtime = findIn(directory, name);
    if (runtime === undefined) continue;
    if (runtime.compatibilityDate < oldestDate) tooOld ??= runtime;
    else return { kind: "found", runtime, note: tooOld && describeSkipped(tooOld, runtime) };
  }
  const why = tooOld === undefined ? "A sandbox needs the runtime workerd." : `${describeTooOld(tooOld)}.`;
  return { kind: "missing", message: `${why} Run in ${directories[0]}: npm install workerd@latest` };
}

function describeSkipped(skipped: Runtime, taken: Runtime): string {
  return `${describeTooOld(skipped)}, so it runs in workerd ${taken.version}, which is installed with Store.`;
}

function describeTooOld({ version }: Runtime): string {
  return `The project's workerd ${version} is older than a sandbox needs (1.${oldestDate.replaceAll("-", "")})`;
}

function findIn(directory: string, platformPackage: string): Runtime | undefined {
  const main = resolvePackage(join(directory, "package.json"), "workerd");
  if (main === undefined) return undefined;
  // The package with the executable is a dependency of workerd, so that is where to look for it.
  const platform = resolvePackage(main, platformPackage);
  const version = platform === undefined ? undefined : readVersion(platform);
  if (platform === undefined || version === undefined) return undefined;
  const binary = join(dirname(platform), "bin", "workerd");
  const compatibilityDate = supportedDate(version);
  return compatibilityDate === undefined || !existsSync(binary)
    ? undefined
    : { binary, version, compatibilityDate };
}

/** Returns the path of a package's package.json. */
function resolvePackage(from: string, name: string): string | undefined {
  try {
    return createRequire(from).resolve(`${name}/package.json`);
  } catch {
    return undefined;
  }
}

function readVersion(file: string): string | undefined {
  const content: unknown = JSON.parse(readFileSync(file, "utf8"));
  return isFields(content) && isText(content.version, 64) ? content.version : undefined;
}

/** The second part of the version is the date: 1.20261110.1. */
export function supportedDate(version: string): string | undefined {
  const [, year, month, day] = /^\d+\.(\d{4})(\d{2})(\d{2})\.\d+$/.exec(version) ?? [];
  return year === undefined ? undefined : `${year}-${month}-${day}`;
}
