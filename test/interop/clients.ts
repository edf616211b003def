// The S3 clients of the suite, their packages of Debian and npm, and whether this machine can run them.
import { closeSync, existsSync, openSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

/** Folder of the packages from npm, beside build/. */
export const npmFolder = fileURLToPath(new URL("../../../.cache/interop/", import.meta.url));

/** Packages from npm, with the exact versions that are installed. */
export const npmPackages = [
  "minio@8.0.7",
  "@tus/server@2.4.5",
  "@tus/s3-store@2.0.7",
  "unstorage@1.17.6",
  "aws4fetch@1.0.20",
] as const;

/** Files of each client by package, the program first; absolute, so that PATH has no effect. */
const requirements = {
  awscli: { awscli: "/usr/bin/aws" },
  s3cmd: { s3cmd: "/usr/bin/s3cmd" },
  rclone: { rclone: "/usr/bin/rclone" },
  restic: { restic: "/usr/bin/restic" },
  s3fs: { s3fs: "/usr/bin/s3fs" },
  boto3: {
    python3: "/usr/bin/python3",
    "python3-boto3": "/usr/lib/python3/dist-packages/boto3/__init__.py",
  },
  duplicity: {
    duplicity: "/usr/bin/duplicity",
    "python3-boto3": "/usr/lib/python3/dist-packages/boto3/__init__.py",
  },
  "git-annex": { git: "/usr/bin/git", "git-annex": "/usr/bin/git-annex" },
  ruby: {
    ruby: "/usr/bin/ruby",
    "ruby-aws-sdk-s3": "/usr/lib/ruby/vendor_ruby/aws-sdk-s3.rb",
    "ruby-fog-aws": "/usr/lib/ruby/vendor_ruby/fog/aws.rb",
  },
  javascript: {
    node: process.execPath,
    ...Object.fromEntries(npmPackages.map((name) => [name, npmManifest(name)])),
  },
} as const;

function npmManifest(name: string): string {
  return `${npmFolder}node_modules/${name.slice(0, name.lastIndexOf("@"))}/package.json`;
}

/** Loads a package from npm. */
export const requireFromNpm = createRequire(npmFolder);

export type ClientName = keyof typeof requirements;
export const clientNames = Object.keys(requirements) as ClientName[];

export function programPath(name: ClientName): string {
  return Object.values(requirements[name])[0]!;
}

/** Returns the title of a client's test. */
export function testTitle(name: ClientName): string {
  return `${name} works with Store`;
}

/** Returns the client's packages that are not installed yet, from Debian and npm. */
export function missingPackages(name: ClientName): string[] {
  const packages = Object.entries(requirements[name]);
  return packages.filter(([, file]) => !existsSync(file)).map(([packageName]) => packageName);
}

/** Returns why the client cannot be tested on this machine; undefined if it can. */
export function findObstacle(name: ClientName): string | undefined {
  const missing = missingPackages(name);
  if (missing.length > 0) return `not installed, and cannot be installed here: ${missing.join(", ")}`;
  return name === "s3fs" ? findMountObstacle() : undefined;
}

const capSysAdmin = 21n;

function findMountObstacle(): string | undefined {
  try {
    closeSync(openSync("/dev/fuse", "r+"));
  } catch (error) {
    return `/dev/fuse cannot be opened on this machine: ${(error as Error).message}`;
  }
  // A container may have the device but not the capability to mount.
  const bounds = /^CapBnd:\s*([0-9a-f]+)$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? "0";
  const mayMount = (BigInt(`0x${bounds}`) >> capSysAdmin) & 1n;
  return mayMount === 1n ? undefined : "this machine does not allow mounts: CAP_SYS_ADMIN is missing";
}
