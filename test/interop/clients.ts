// The clients of the suite: which Debian packages bring each, and whether this machine can run it.
import { closeSync, existsSync, openSync, readFileSync } from "node:fs";

/**
 * By the package that brings it, what a client needs: its program first, and always by its place, so that no other
 * one of that name is taken for it.
 */
const needs = {
  awscli: { awscli: "/usr/bin/aws" },
  s3cmd: { s3cmd: "/usr/bin/s3cmd" },
  rclone: { rclone: "/usr/bin/rclone" },
  restic: { restic: "/usr/bin/restic" },
  s3fs: { s3fs: "/usr/bin/s3fs" },
  duplicity: {
    duplicity: "/usr/bin/duplicity",
    "python3-boto3": "/usr/lib/python3/dist-packages/boto3/__init__.py",
  },
} as const;

export type ClientName = keyof typeof needs;
export const clientNames = Object.keys(needs) as ClientName[];

export function programOf(name: ClientName): string {
  return Object.values(needs[name])[0]!;
}

/** The test of a client. */
export function titleOf(name: ClientName): string {
  return `${name} does its everyday jobs`;
}

/** What is still to be installed for it. */
export function missingPackages(name: ClientName): string[] {
  const packages = Object.entries(needs[name]);
  return packages.filter(([, file]) => !existsSync(file)).map(([wanted]) => wanted);
}

/** Why the client cannot be tested here, if so. */
export function obstacleTo(name: ClientName): string | undefined {
  const missing = missingPackages(name);
  if (missing.length > 0)
    return `not installed, and not to be installed from Debian here: ${missing.join(", ")}`;
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
