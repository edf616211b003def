// Finds the libraries of workerd and prlimit, and the certificates, on this machine.
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Architecture } from "./system-calls.ts";
import type { WallFile } from "./types.ts";

/** Path of the loader, which is part of every program, and the folders in which it looks. */
const loaders: Readonly<
  Record<Architecture, { readonly path: string; readonly folders: readonly string[] }>
> = {
  x64: {
    path: "/lib64/ld-linux-x86-64.so.2",
    folders: ["/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/usr/lib"],
  },
  arm64: {
    path: "/lib/ld-linux-aarch64.so.1",
    folders: ["/lib/aarch64-linux-gnu", "/lib64", "/usr/lib64", "/usr/lib"],
  },
};

const requiredLibraries = ["libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1"];
/** A library of prlimit, which some distributions build without it. */
const optionalLibraries = ["libsmartcols.so.1"];

/** workerd does not start without certificates. It never uses them: the bridge makes connections. */
const certificates = ["/etc/ssl/certs", "/usr/share/ca-certificates", "/etc/pki"];

/** Returns the files to mount, or the name of a library that is missing. */
export function findLibraries(architecture: Architecture): readonly WallFile[] | string {
  const { path: loader, folders } = loaders[architecture];
  if (!existsSync(loader)) return loader;
  const files = [loader];
  for (const name of [...requiredLibraries, ...optionalLibraries]) {
    const path = folders.map((folder) => join(folder, name)).find((candidate) => existsSync(candidate));
    if (path !== undefined) files.push(path);
    else if (requiredLibraries.includes(name)) return name;
  }
  return [...files, ...certificates.filter((path) => existsSync(path))].map((path) => ({
    from: path,
    to: path,
  }));
}
