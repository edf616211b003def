// Describes the machine on which proofs run: file system, device, kernel and Node.
import { readFileSync, realpathSync } from "node:fs";
import { arch, cpus, platform, release, totalmem } from "node:os";
import { sep } from "node:path";

export interface Machine {
  readonly node: string;
  readonly system: string;
  readonly processors: number;
  readonly memoryBytes: number;
  /** The folder that was tested. */
  readonly directory: string;
  /** Undefined where the system does not say. */
  readonly fileSystem?: string;
  readonly device?: string;
  readonly mountOptions?: string;
}

export function describeMachine(directory: string): Machine {
  return {
    node: process.version,
    system: `${platform()} ${release()} ${arch()}`,
    processors: cpus().length,
    memoryBytes: totalmem(),
    directory,
    ...findMount(directory),
  };
}

type Mount = Pick<Machine, "fileSystem" | "device" | "mountOptions">;

/** Finds the mount of a folder in Linux's table of mounts. */
function findMount(directory: string): Mount {
  let table: string;
  try {
    table = readFileSync("/proc/self/mounts", "utf8");
  } catch {
    return {};
  }
  const path = realpathSync(directory);
  let [found, length]: [Mount, number] = [{}, 0];
  for (const line of table.split("\n")) {
    const [device, point, fileSystem, mountOptions] = line.split(" ").map(unescapeField);
    if (device === undefined || point === undefined || !isBelow(path, point)) continue;
    // Of equal points, the last mount covers the others.
    if (point.length >= length)
      [found, length] = [{ fileSystem, device, mountOptions } as Mount, point.length];
  }
  return found;
}

function isBelow(path: string, point: string): boolean {
  return path === point || path.startsWith(point.endsWith(sep) ? point : point + sep);
}

/** The table writes spaces and backslashes as octal numbers. */
function unescapeField(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );
}
