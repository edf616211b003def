// Compatibility flags that change a script's runtime, and the dates from which they are on by
// default. Cloudflare Workers uses the same names and dates.
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
  /** Selects the package builds and navigator.userAgent, by which packages detect the platform. */
  readonly platform: "store" | "workers";
  /** Whether variables and secrets are also environment variables of the script. */
  readonly populatesProcessEnv: boolean;
  /** Whether setTimeout and setInterval return numbers, or Node's Timeout objects. */
  readonly timers: "numbers" | "objects";
}

const nodeCompatSince = "2026-08-04";

export interface RuntimeCompatibility {
  /** The kind of file: a wrangler file implies the defaults of Cloudflare Workers. */
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
