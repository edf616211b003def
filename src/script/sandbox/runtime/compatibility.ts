// Translates a script's compatibility date and flags to those of the runtime.
import { isCompatibilityFlag } from "../../../binding/compatibility.ts";
import type { RuntimeCompatibility } from "../../config/runtime-flags.ts";

export interface TranslatedCompatibility {
  readonly date: string;
  readonly flags: readonly string[];
  /** What was changed, for the log. */
  readonly notes: readonly string[];
}

/** The runtime has no behaviour of an earlier date. */
const firstDate = "2021-11-02";
/** From this date listing respects `include` without a flag. */
const honorIncludeSince = "2022-08-04";
/** From this date the runtime has Node's modules without a flag. */
const nodeCompatSince = "2026-08-04";

/** `supported` is the newest date of the runtime. */
export function translateCompatibility(
  { kind, compatibilityDate, compatibilityFlags }: RuntimeCompatibility,
  supported: string,
): TranslatedCompatibility {
  const notes: string[] = [];
  let date = compatibilityDate < firstDate ? firstDate : compatibilityDate;
  if (date > supported) {
    notes.push(
      `its compatibility date ${date} is later than the runtime supports, so it runs with ${supported}. ` +
        "Update the runtime: npm install workerd@latest",
    );
    date = supported;
  }
  const flags = compatibilityFlags.filter((flag) => !isCompatibilityFlag(flag));
  if (compatibilityFlags.includes("store_list_honor_include") && date < honorIncludeSince) {
    flags.push("r2_list_honor_include");
  }
  // A script with a store file can always import Node's modules, so it can in the sandbox too.
  const hasNodeFlag = flags.some((flag) => /^(no_)?nodejs_compat(_v2)?$/.test(flag));
  if (kind !== "wrangler" && !hasNodeFlag && date < nodeCompatSince) flags.push("nodejs_compat");
  return { date, flags: [...new Set(flags)], notes };
}
