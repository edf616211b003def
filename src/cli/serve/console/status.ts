// Provides the console with facts about the server: health, disk, ports and where data is stored.
import { statfs } from "node:fs/promises";
import type { ConsoleStatus } from "../../../console/api/administration/status.ts";
import { readLastBackup } from "../../../maintenance.ts";
import { redactUrl } from "../../../model/names/location.ts";
import type { ScriptLog } from "../../../script/supervisor/script-log.ts";
import { packageVersion } from "../../framework/package-root.ts";
import type { Data } from "../../store/open-store.ts";

export interface StatusOptions {
  readonly data: Data;
  readonly log: Pick<ScriptLog, "faults">;
  /** Number of scripts on this server. */
  readonly scripts: number;
  readonly troubles: () => Promise<readonly string[]>;
  /** Name and URL of each port; undefined if it is closed. */
  readonly ports: () => readonly (readonly [name: string, url: string | undefined])[];
}

const dayMilliseconds = 86_400_000;

export function consoleStatus({ data, log, scripts, troubles, ports }: StatusOptions): ConsoleStatus {
  const started = Date.now();
  const { location } = data;
  const openPorts = () =>
    ports().flatMap(([name, url]) => (url === undefined ? [] : [{ name, url: url.replace(/\/$/, "") }]));
  return {
    async health() {
      const lastBackup = (await readLastBackup(location, data.documents))?.time ?? null;
      return {
        ...{ version: packageVersion(), troubles: await troubles(), scripts, lastBackup },
        disk: typeof location === "string" ? await readDisk(location) : null,
        faults: log.faults().filter(({ time }) => Date.now() - time < dayMilliseconds).length,
        endpoint: openPorts()[0]?.url ?? "",
      };
    },
    async about() {
      return {
        ...{ version: packageVersion(), node: process.version, started, ports: openPorts() },
        data:
          typeof location === "string"
            ? [location]
            : [redactUrl(location.records), redactUrl(location.blobs)],
        encryption: data.encryption ?? "by bucket",
      };
    },
  };
}

/** Null if the file system does not say. */
async function readDisk(path: string): Promise<{ readonly free: number; readonly total: number } | null> {
  try {
    const { bavail, blocks, bsize } = await statfs(path);
    return { free: bavail * bsize, total: blocks * bsize };
  } catch {
    return null;
  }
}
