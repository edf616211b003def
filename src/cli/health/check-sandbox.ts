// Checks what sandboxed scripts need: the runtime workerd and the tools of the wall around it.
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { readConfig } from "../../script/config/config.ts";
import { findRuntime } from "../../script/sandbox/runtime/find-runtime.ts";
import { checkWall } from "../../script/sandbox/wall/check-wall.ts";
import type { Invocation } from "../framework/command.ts";
import { packageRoot } from "../framework/package-root.ts";
import { configFiles, hasConfigs } from "../store/script-config.ts";
import { type Finding, ok, problem } from "./finding.ts";

const check = "sandbox";

export async function checkSandbox(invocation: Invocation): Promise<Finding[]> {
  const directories = sandboxedFolders(invocation);
  if (directories.length === 0) return [ok(check, "No configured script runs in a sandbox.")];
  const search = findRuntime([...directories, packageRoot()]);
  if (search.kind === "missing") return [problem(check, "workerd is not installed.", search.message)];
  const { runtime } = search;
  const wall = await checkWall({ environment: invocation.environment, workerd: runtime.binary });
  if (wall.kind === "missing")
    return [problem(check, "The wall around sandboxes cannot be built.", wall.what)];
  const around = wall.kind === "ready" ? "the wall around it works" : "only Linux has the wall around it";
  return [ok(check, `workerd ${runtime.version} is installed; ${around}.`)];
}

function sandboxedFolders(invocation: Invocation): string[] {
  if (!hasConfigs(invocation)) return [];
  return configFiles(invocation)
    .filter((file) => existsSync(file))
    .map((file) => readConfig(file))
    .filter(({ isolation }) => isolation === "sandbox")
    .map(({ file }) => dirname(file));
}
