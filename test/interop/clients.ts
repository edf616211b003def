// The clients of the suite: which Debian package brings each, and whether this machine can run it.
import { accessSync, closeSync, constants, openSync, readFileSync } from "node:fs";

/** By package: where it puts its program, so that no other one of that name is taken for it. */
const programs = {
  awscli: "/usr/bin/aws",
  s3cmd: "/usr/bin/s3cmd",
  rclone: "/usr/bin/rclone",
  restic: "/usr/bin/restic",
  s3fs: "/usr/bin/s3fs",
} as const;

export type ClientName = keyof typeof programs;
export const clientNames = Object.keys(programs) as ClientName[];

export function programOf(name: ClientName): string {
  return programs[name];
}

export function isInstalled(name: ClientName): boolean {
  try {
    accessSync(programs[name], constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Why the client cannot be tested here, if so. */
export function obstacleTo(name: ClientName): string | undefined {
  if (!isInstalled(name)) return `the Debian package ${name} is not installed and could not be`;
  return name === "s3fs" ? obstacleToMounts() : undefined;
}

const capSysAdmin = 21n;

function obstacleToMounts(): string | undefined {
  try {
    closeSync(openSync("/dev/fuse", "r+"));
  } catch (error) {
    return `this machine has no /dev/fuse to use: ${(error as Error).message}`;
  }
  // A container may show the device and yet let nobody in it mount anything.
  const bounds = /^CapBnd:\s*([0-9a-f]+)$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? "0";
  const mayMount = (BigInt(`0x${bounds}`) >> capSysAdmin) & 1n;
  return mayMount === 1n
    ? undefined
    : "this machine lets nobody mount anything: CAP_SYS_ADMIN is not to be had";
}
