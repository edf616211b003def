// Creates the env that a script's handlers receive: variables, secrets and bindings by name.
import { bindBucket } from "../../binding/bind.ts";
import { isCompatibilityFlag } from "../../binding/compatibility.ts";
import { bindKvNamespace } from "../../binding/kv-namespace.ts";
import type { Engine } from "../../engine/engine.ts";
import type { S3Access } from "../../http/sigv4.ts";
import type { Assets } from "../assets/assets.ts";
import { bindAssets } from "../assets/assets-binding.ts";
import { bindSite } from "../assets/site-binding.ts";
import type { EmulatedBinding } from "../bindings.ts";
import { siteBinding } from "../config/wrangler/site-names.ts";
import type { LoadedScript } from "./messages.ts";
import { AnalyticsDataset } from "./platform/analytics-dataset.ts";
import { RateLimiter } from "./platform/rate-limiter.ts";
import { unsupportedBinding } from "./platform/unsupported-binding.ts";

export type Environment = Record<string, unknown>;

export function createEnvironment(
  { vars, secrets, buckets, kvNamespaces, emulated, unsupported, compatibilityDate, ...script }: LoadedScript,
  { engine, presign, assets }: { engine: Engine; presign: S3Access | undefined; assets: Assets | undefined },
): Environment {
  const env: Environment = { ...vars, ...secrets };
  // Buckets receive only the flags that affect bindings; all other flags change the runtime.
  const compatibilityFlags = script.compatibilityFlags.filter(isCompatibilityFlag);
  for (const { binding, bucketName } of buckets) {
    env[binding] = bindBucket(engine, bucketName, { compatibilityDate, compatibilityFlags, presign });
  }
  for (const { binding, namespace } of kvNamespaces) env[binding] = bindKvNamespace(engine.kv, namespace);
  for (const each of emulated) env[each.binding] = emulate(each);
  for (const { binding, kind } of unsupported) env[binding] = unsupportedBinding(binding, kind);
  if (assets !== undefined && script.assets?.binding !== undefined) {
    const bind = script.assets.binding === siteBinding ? bindSite : bindAssets;
    env[script.assets.binding] = bind(assets, script.assets);
  }
  return env;
}

function emulate(binding: EmulatedBinding): object {
  return binding.kind === "rate limiter" ? new RateLimiter(binding) : new AnalyticsDataset();
}
