// The scripts that a command can know: of the configuration here, and of running servers.
import type { Documents } from "../../../engine/records.ts";
import { readConfig, type ScriptConfig } from "../../../script/config/config.ts";
import { listRunningScripts, type ScriptBuckets } from "../../../servers/server-record.ts";
import type { Invocation } from "../../framework/command.ts";
import { configFiles, hasConfigs } from "../../store/script-config.ts";

/** A script may be listed twice, with different buckets. */
export async function knownScripts(invocation: Invocation, documents: Documents): Promise<ScriptBuckets[]> {
  const configured = hasConfigs(invocation) ? configFiles(invocation).flatMap(configuredScript) : [];
  return [...configured, ...(await listRunningScripts(documents))];
}

export function scriptBuckets({ name, buckets }: ScriptConfig): ScriptBuckets {
  return { name, buckets: buckets.map(({ bucketName }) => bucketName) };
}

/** Faults of a configuration are reported by the commands that run it. */
function configuredScript(file: string): ScriptBuckets[] {
  try {
    return [scriptBuckets(readConfig(file))];
  } catch {
    return [];
  }
}
