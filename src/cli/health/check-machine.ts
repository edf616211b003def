// Checks of the machine and of the installation: Node, versions, and the limit of open files.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isFields, isText } from "../../model/shape.ts";
import type { ServerRecord } from "../../servers/server-record.ts";
import { packageRoot, packageVersion } from "../framework/package-root.ts";
import { type Finding, ok, problem, warning } from "./finding.ts";

export function checkNode(found = process.versions.node, needed = neededNode()): Finding {
  const check = "node";
  if (isSameOrLater(found, needed)) return ok(check, `Node ${found}; Store needs ${needed} or later.`);
  return problem(
    check,
    `Node ${found} is too old: Store needs ${needed} or later.`,
    "Install a newer Node: https://nodejs.org/en/download",
  );
}

function neededNode(): string {
  const parsed: unknown = JSON.parse(readFileSync(join(packageRoot(), "package.json"), "utf8"));
  const engines = isFields(parsed) && isFields(parsed.engines) ? parsed.engines.node : undefined;
  return isText(engines, 100) ? engines.replace(/^[^\d]*/, "") : "0";
}

function isSameOrLater(found: string, needed: string): boolean {
  const [a, b] = [found, needed].map((version) => version.split(".").map(Number));
  for (let i = 0; i < 3; i++) {
    const difference = (a![i] ?? 0) - (b![i] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return true;
}

/** All processes of one store should have the same version. */
export function checkVersions(servers: readonly ServerRecord[], own = packageVersion()): Finding {
  const check = "version";
  const others = [...new Set(servers.map(({ version }) => version))].filter((version) => version !== own);
  if (others.length === 0) return ok(check, `Store ${own}.`);
  return warning(
    check,
    `This command is Store ${own}, but running servers are ${others.join(" and ")}.`,
    "Restart the servers with the installed version, one after the other.",
  );
}

const enoughFiles = 8192;

/** A server needs a file for each connection and several for each bucket in use. */
export function checkOpenFiles(limits = readLimits()): Finding {
  const check = "open files";
  const [, text] = /^Max open files\s+(\S+)/m.exec(limits) ?? [];
  if (text === undefined) return ok(check, "This system does not report its limit of open files.");
  const limit = text === "unlimited" ? Number.POSITIVE_INFINITY : Number(text);
  if (limit >= enoughFiles) return ok(check, `A process may open ${text} files.`);
  return warning(
    check,
    `A process may open only ${text} files; a busy server needs one for each connection.`,
    `Raise the limit: ulimit -n ${enoughFiles}, or LimitNOFILE=${enoughFiles} in the systemd unit.`,
  );
}

function readLimits(): string {
  try {
    return readFileSync("/proc/self/limits", "utf8");
  } catch {
    return "";
  }
}
