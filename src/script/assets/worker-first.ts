// Decides whether the script or the assets handle a request, by `run_worker_first`.
import type { AssetsOptions } from "../bindings.ts";
import type { RuntimeCompatibility } from "../config/runtime-flags.ts";
import { compileGlob } from "./rules/path-pattern.ts";

/** `either`: the assets first, then the script if no asset matches. */
export type Destination = "script" | "assets" | "either";

export function createDestinationChooser(runWorkerFirst: AssetsOptions["runWorkerFirst"]) {
  if (typeof runWorkerFirst === "boolean") return (): Destination => (runWorkerFirst ? "script" : "either");
  const isExcluded = (rule: string) => rule.startsWith("!");
  const toAssets = runWorkerFirst.filter(isExcluded).map((rule) => compileGlob(rule.slice(1)));
  const toScript = runWorkerFirst.filter((rule) => !isExcluded(rule)).map(compileGlob);
  return (pathname: string): Destination => {
    if (toAssets.some((matches) => matches(pathname))) return "assets";
    return toScript.some((matches) => matches(pathname)) ? "script" : "either";
  };
}

const navigationSince = "2025-04-01";

export type Compatibility = Omit<RuntimeCompatibility, "kind">;

/** Whether a browser navigation to a missing path skips the script and gets the not-found page. */
export function prefersAssets({ compatibilityDate, compatibilityFlags }: Compatibility): boolean {
  if (compatibilityFlags.includes("assets_navigation_prefers_asset_serving")) return true;
  return (
    compatibilityDate >= navigationSince && !compatibilityFlags.includes("assets_navigation_has_no_effect")
  );
}
