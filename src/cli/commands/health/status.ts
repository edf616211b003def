// `store status`: shows the running servers of a store, and what the store contains.

import { readLastBackup } from "../../../maintenance.ts";
import type { LastBackup } from "../../../model/backup.ts";
import { formatLocation, type Location } from "../../../model/names/location.ts";
import { listServers, type ServerRecord } from "../../../servers/server-record.ts";
import type { Command } from "../../framework/command.ts";
import { formatCount, type Output } from "../../framework/output.ts";
import { packageVersion } from "../../framework/package-root.ts";
import { countStore, type StoreTotals } from "../../health/totals.ts";
import { displayPath, withData } from "../../store/open-store.ts";

interface Status {
  readonly location: Location;
  readonly servers: readonly ServerRecord[];
  readonly totals: StoreTotals;
  readonly backup: LastBackup | undefined;
  readonly encryption: "always" | "requested";
}

export const statusCommand: Command = {
  name: "status",
  summary: "Show the running servers of the store, and what it contains",
  details:
    "Servers register in the store, so they are found on a data directory and, on a cluster, on every machine.\n" +
    "For checks and cures: store doctor",
  usage: [""],
  options: {},
  examples: ["store status", "store status --json"],
  async run(invocation) {
    const { output } = invocation;
    const status = await withData(invocation, { absent: "refuse" }, async (data): Promise<Status> => {
      const { engine, documents, location, encryption = "requested" } = data;
      return {
        location,
        servers: await listServers(documents),
        totals: await countStore(engine),
        backup: await readLastBackup(location, documents),
        encryption,
      };
    });
    if (output.isJson) return output.json(toJson(status));
    const where =
      typeof status.location === "string"
        ? displayPath(invocation, status.location)
        : formatLocation(status.location);
    await print(output, where, status);
  },
};

async function print(output: Output, where: string, status: Status): Promise<void> {
  const { servers, totals, backup, encryption } = status;
  const { buckets, namespaces, objects, bytes, countedBuckets } = totals;
  const bound = countedBuckets < buckets ? "at least " : "";
  await output.fields([
    ["store", where],
    ["version", packageVersion()],
    ["buckets", String(buckets)],
    ["objects", `${bound}${objects}`],
    ["size", `${bound}${output.bytes(bytes)}`],
    ["namespaces", String(namespaces)],
    ["encryption", encryption === "always" ? "of every new object" : "as buckets and requests ask"],
    ["latest backup", backup === undefined ? "none" : `${output.time(backup.time)} to ${backup.to}`],
    ["servers", servers.length === 0 ? "none" : String(servers.length)],
  ]);
  for (const server of servers) {
    const { host, pid, version, mode, started, ports, scripts, messages } = server;
    await output.line("");
    await output.fields([
      ["server", `process ${pid} on ${host}, store ${mode}, version ${version}`],
      ["started", `${output.time(started)} (${formatAge(Date.now() - started)} ago)`],
      ...ports.map(({ name, url }) => [`${name} on`, url] as const),
      ["scripts", scripts.length === 0 ? "none" : scripts.join(", ")],
      ...messages
        .slice(-shownMessages)
        .map(({ time, text }) => ["log", `${output.time(time)} ${text}`] as const),
    ]);
  }
  if (servers.length === 0) output.note("Start a server: store serve");
}

const shownMessages = 5;

function formatAge(milliseconds: number): string {
  const minutes = Math.floor(milliseconds / 60_000);
  if (minutes < 1) return formatCount(Math.max(0, Math.floor(milliseconds / 1000)), "second");
  if (minutes < 120) return formatCount(minutes, "minute");
  if (minutes < 48 * 60) return formatCount(Math.floor(minutes / 60), "hour");
  return formatCount(Math.floor(minutes / (24 * 60)), "day");
}

function toJson({ location, servers, totals, backup, encryption }: Status) {
  const iso = (time: number) => new Date(time).toISOString();
  return {
    store: formatLocation(location),
    version: packageVersion(),
    ...totals,
    encryption,
    latestBackup: backup === undefined ? null : { time: iso(backup.time), to: backup.to },
    servers: servers.map(({ started, seen, messages, ...server }) => ({
      ...server,
      started: iso(started),
      seen: iso(seen),
      messages: messages.map(({ time, text }) => ({ time: iso(time), text })),
    })),
  };
}
