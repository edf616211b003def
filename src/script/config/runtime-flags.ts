// Compatibility flags that change a script's runtime, and the dates from which they apply by default. Names and dates
// are those of the platform that scripts are written for.
import type { ConfigKind } from "./syntax/source.ts";

export const runtimeFlags = [
  "nodejs_compat",
  "no_nodejs_compat",
  "nodejs_compat_populate_process_env",
  "nodejs_compat_do_not_populate_process_env",
  "enable_nodejs_global_timers",
  "no_nodejs_global_timers",
  "assets_navigation_prefers_asset_serving",
  "assets_navigation_has_no_effect",
] as const;

export type RuntimeFlag = (typeof runtimeFlags)[number];

export interface RuntimeBehaviour {
  /** Chooses the builds of packages and navigator.userAgent, which scripts and packages inspect. */
  readonly platform: "store" | "workers";
  /** Variables and secrets are also set in the environment of the process. */
  readonly populatesProcessEnv: boolean;
  /** Whether setTimeout and setInterval return numbers or the Timeout objects of Node. */
  readonly timers: "numbers" | "objects";
}

const nodeCompatSince = "2026-08-04";

export interface RuntimeCompatibility {
  /** A project with a wrangler file is written for that platform. */
  readonly kind: ConfigKind;
  /** `YYYY-MM-DD` */
  readonly compatibilityDate: string;
  readonly compatibilityFlags: readonly string[];
}

export function runtimeBehaviour(compatibility: RuntimeCompatibility): RuntimeBehaviour {
  const { kind, compatibilityDate, compatibilityFlags } = compatibility;
  const has = (flag: RuntimeFlag | "nodejs_compat_v2") => compatibilityFlags.includes(flag);
  const isNodeCompatible =
    has("nodejs_compat") ||
    has("nodejs_compat_v2") ||
    (compatibilityDate >= nodeCompatSince && !has("no_nodejs_compat"));
  const hasNodeTimers =
    has("enable_nodejs_global_timers") || (isNodeCompatible && !has("no_nodejs_global_timers"));
  return {
    platform: kind === "wrangler" ? "workers" : "store",
    populatesProcessEnv:
      has("nodejs_compat_populate_process_env") ||
      (isNodeCompatible && !has("nodejs_compat_do_not_populate_process_env")),
    timers: hasNodeTimers ? "objects" : "numbers",
  };
}
