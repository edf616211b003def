// Parses options for the limits of the ports, and reads the open-file limit of the process.
import { readFileSync } from "node:fs";
import { defaultPortLimits, type PortLimits } from "../../http/server/limits.ts";
import type { NodeInternalsSetting } from "../../http/server/node-internals.ts";
import { limits as storeLimits } from "../../model/limits.ts";
import type { Invocation, Option } from "../framework/command.ts";
import { usageError } from "../framework/command-error.ts";
import { numberOption } from "./listen-options.ts";

const { connections, connectionsPerAddress, requests } = defaultPortLimits;

export const limitOptions: Readonly<Record<string, Option>> = {
  "max-connections": {
    value: "COUNT",
    summary: `maximum open connections for each port; default: ${connections}`,
  },
  "max-connections-per-address": {
    value: "COUNT",
    summary: `maximum open connections for each client address; default: ${connectionsPerAddress}`,
  },
  "max-requests": {
    value: "COUNT",
    summary: `maximum requests in flight on each port; default: ${requests}`,
  },
  "max-uploads": {
    value: "COUNT",
    summary: `maximum open multipart uploads in each bucket; default: ${storeLimits.openUploads}`,
  },
  "max-scripts": {
    value: "COUNT",
    summary: "scripts that run at a time, others start at their next request; default: 64 divided by cores",
  },
  "node-internals": {
    value: "on|off",
    summary: "off: use only documented features of Node; slower uploads; default: on",
  },
};

const maxCount = 10_000_000;

export function portLimits(invocation: Invocation): PortLimits {
  return {
    connections: countOption(invocation, "max-connections", connections),
    connectionsPerAddress: countOption(invocation, "max-connections-per-address", connectionsPerAddress),
    requests: countOption(invocation, "max-requests", requests),
    pipelined: defaultPortLimits.pipelined,
    descriptors: openFilesLimit(),
    nodeInternals: nodeInternalsOption(invocation),
  };
}

/** Returns the maximum number of open multipart uploads in each bucket. */
export function uploadLimit(invocation: Invocation): number {
  return countOption(invocation, "max-uploads", storeLimits.openUploads);
}

/** Returns the number of scripts that run at a time; undefined for the default. */
export function scriptLimit(invocation: Invocation): number | undefined {
  if (invocation.options.text("max-scripts") === undefined) return undefined;
  return countOption(invocation, "max-scripts", 1);
}

function nodeInternalsOption({ options }: Invocation): NodeInternalsSetting {
  const text = options.text("node-internals") ?? defaultPortLimits.nodeInternals;
  if (text === "on" || text === "off") return text;
  throw usageError(`--node-internals must be "on" or "off", not "${text}".`);
}

function countOption(invocation: Invocation, name: string, defaultValue: number): number {
  const number = numberOption(invocation, name, defaultValue, maxCount);
  if (number === 0) throw usageError(`--${name} must be at least 1.`);
  return number;
}

/** Returns the limit of open files and sockets. Node raises the soft limit to the hard limit. */
function openFilesLimit(): number {
  try {
    const [, soft = ""] =
      /^Max open files\s+(\d+|unlimited)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
    return soft === "unlimited" ? maxCount : Number(soft) || defaultPortLimits.descriptors;
  } catch {
    const report = process.report.getReport() as { userLimits?: { open_files?: { soft?: unknown } } };
    const soft = Number(report.userLimits?.open_files?.soft);
    return Number.isFinite(soft) ? soft : defaultPortLimits.descriptors;
  }
}
