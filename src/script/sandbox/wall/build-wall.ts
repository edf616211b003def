// Builds the command that runs workerd behind the wall: bubblewrap makes the namespaces and mounts
// and installs the filter of system calls, prlimit sets the limits, workerd runs.
import { isAbsolute } from "node:path";
import type { SandboxLimits, WallCommand, WallFile, WallOptions, WallTools } from "./types.ts";

export const defaultSandboxLimits: SandboxLimits = {
  memoryBytes: 256 * 1024 * 1024,
  openFiles: 1024,
  threads: 64,
};

/** Paths inside the wall. */
export const socketsPath = "/sockets";
const workerdPath = "/bin/workerd";
const prlimitPath = "/bin/prlimit";

/** Address space for compiled code, which V8 reserves as writable data and hardly uses. */
const reservedBytes = 512 * 1024 * 1024;

const [infoFd, seccompFd] = [3, 4];
const unprivilegedId = "65534";
const devices = ["/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"];

export function buildWall(options: WallOptions): WallCommand {
  const { tools, workerd, files, sockets, args, limits } = options;
  const mounts: readonly WallFile[] = [
    ...tools.files,
    { from: tools.prlimit, to: prlimitPath },
    { from: workerd, to: workerdPath },
    ...files,
  ];
  for (const path of [sockets, ...mounts.flatMap(({ from, to }) => [from, to])]) {
    if (!isAbsolute(path) || path.includes("\0")) throw new Error(`Not an absolute path: "${path}".`);
  }
  for (const [name, limit] of Object.entries(limits)) {
    if (!Number.isSafeInteger(limit) || limit < 1) throw new Error(`Not a limit of ${name}: ${limit}.`);
  }
  const extraFiles = tools.seccomp === undefined ? [] : [{ fd: seccompFd, bytes: tools.seccomp }];
  const usedFds = [infoFd, ...extraFiles.map(({ fd }) => fd)];
  return {
    command: tools.bwrap,
    args: [
      // Each one by name: --unshare-all continues without a user namespace if there is none.
      ...["--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"],
      "--unshare-cgroup-try",
      ...["--uid", unprivilegedId, "--gid", unprivilegedId, "--hostname", "sandbox"],
      ...["--cap-drop", "ALL", "--clearenv", "--chdir", "/", "--new-session", "--die-with-parent"],
      // workerd is then the process whose id bubblewrap reports, without an idle process above it.
      ...["--as-pid-1", "--info-fd", String(infoFd)],
      ...(tools.seccomp === undefined ? [] : ["--seccomp", String(seccompFd)]),
      ...devices.flatMap((path) => ["--dev-bind", path, path]),
      ...mounts.flatMap(({ from, to }) => ["--ro-bind", from, to]),
      ...["--bind", sockets, socketsPath],
      // The root is a file system in memory, without a limit.
      ...["--remount-ro", "/"],
      "--",
      ...limitedCommand(tools, limits),
      ...args,
    ],
    extraFiles,
    infoFd,
    closedFds: tools.inheritedFds.filter((fd) => !usedFds.includes(fd)),
    user: tools.user,
  };
}

/** prlimit runs inside the wall: there a limit of threads counts the threads of this process only. */
function limitedCommand(tools: WallTools, limits: SandboxLimits): string[] {
  return [
    prlimitPath,
    `--data=${reservedBytes + limits.memoryBytes}`,
    `--nofile=${limits.openFiles}`,
    ...(tools.canLimitThreads ? [`--nproc=${limits.threads}`] : []),
    // No file can be written, neither a core dump nor memory that poses as a file.
    ...["--core=0", "--fsize=0", "--memlock=0", "--msgqueue=0"],
    "--",
    workerdPath,
  ];
}
