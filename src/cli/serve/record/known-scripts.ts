// Names of the scripts that a command can know: of the configuration here, and of running servers.
import { readConfig } from "../../../script/config/config.ts";
import type { Invocation } from "../../framework/command.ts";
import { withData } from "../../store/open-store.ts";
import { configFiles, hasConfigs } from "../../store/script-config.ts";
import { listServers } from "./server-record.ts";

export async function knownScripts(invocation: Invocation): Promise<string[]> {
  const configured = hasConfigs(invocation) ? configFiles(invocation).flatMap(configuredName) : [];
  const running = await withData(invocation, { absent: "refuse" }, ({ documents }) => listServers(documents));
  return [...new Set([...configured, ...running.flatMap(({ scripts }) => scripts)])];
}

/** Faults of a configuration are reported by the commands that run it. */
function configuredName(file: string): string[] {
  try {
    return [readConfig(file).name];
  } catch {
    return [];
  }
}
