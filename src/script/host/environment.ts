// The env that a script's handlers receive: variables, secrets and bindings, by name.
import { bindBucket } from "../../binding/bind.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Assets } from "../assets/assets.ts";
import { bindAssets } from "../assets/assets-binding.ts";
import type { LoadedScript, ScriptPresigner } from "../host-messages.ts";

export type Environment = Record<string, unknown>;

export interface EnvironmentOptions {
  readonly engine: Engine;
  readonly presign: ScriptPresigner | undefined;
  readonly assets: Assets | undefined;
}

export function createEnvironment(
  { vars, secrets, buckets, assets: assetsOptions, compatibilityDate, compatibilityFlags }: LoadedScript,
  { engine, presign, assets }: EnvironmentOptions,
): Environment {
  const env: Environment = { ...vars, ...secrets };
  for (const { binding, bucketName } of buckets) {
    env[binding] = bindBucket(engine, bucketName, { compatibilityDate, compatibilityFlags, presign });
  }
  if (assets !== undefined && assetsOptions?.binding !== undefined) {
    env[assetsOptions.binding] = bindAssets(assets, assetsOptions);
  }
  return env;
}
