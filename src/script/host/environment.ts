// The env that a script's handlers receive: variables, secrets and bindings, by name.
import { bindBucket } from "../../binding/bind.ts";
import { compatibilityFlags as bucketFlags } from "../../binding/compatibility.ts";
import type { Engine } from "../../engine/engine.ts";
import type { LoadedScript, ScriptPresigner } from "../host-messages.ts";

export type Environment = Record<string, unknown>;

export interface EnvironmentOptions {
  readonly engine: Engine;
  readonly presign: ScriptPresigner | undefined;
}

export function createEnvironment(
  { vars, secrets, buckets, compatibilityDate, compatibilityFlags }: LoadedScript,
  { engine, presign }: EnvironmentOptions,
): Environment {
  const env: Environment = { ...vars, ...secrets };
  // Other flags are about the runtime.
  const flags = bucketFlags.filter((flag) => compatibilityFlags.includes(flag));
  for (const { binding, bucketName } of buckets) {
    const options = { compatibilityDate, compatibilityFlags: flags, presign };
    env[binding] = bindBucket(engine, bucketName, options);
  }
  return env;
}
