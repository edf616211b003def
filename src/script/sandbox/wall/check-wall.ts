// Finds the parts of the wall on this machine and tries it once. Says in words what is missing.
import { accessSync, constants, readdirSync, readFileSync } from "node:fs";
import { chmod, mkdtemp, rm, stat } from "node:fs/promises";
import { release } from "node:os";
import { delimiter, dirname, isAbsolute, join } from "node:path";
import { text } from "node:stream/consumers";
import { temporaryFolder } from "../temporary-folder.ts";
import { buildWall, defaultSandboxLimits } from "./build-wall.ts";
import { findLibraries } from "./libraries.ts";
import { compileSeccomp } from "./seccomp.ts";
import { startWall } from "./start-wall.ts";
import type { WallCheck, WallTools, WallUser } from "./types.ts";

export interface WallCheckOptions {
  readonly environment: NodeJS.ProcessEnv;
  /** Absolute path of workerd. */
  readonly workerd: string;
}

/** The user `nobody`, which owns no files. */
const unprivilegedUser: WallUser = { uid: 65534, gid: 65534 };

/** Ends the trial of a wall that hangs. Far longer than a start on a busy machine takes. */
const trialMilliseconds = 60_000;

export async function checkWall(options: WallCheckOptions): Promise<WallCheck> {
  if (process.platform !== "linux") return { kind: "unsupported" };
  const { environment, workerd } = options;
  const bwrap = findProgram("bwrap", environment);
  if (bwrap === undefined) return missing(notInstalled("bwrap", "bubblewrap"));
  const prlimit = findProgram("prlimit", environment);
  if (prlimit === undefined) return missing(notInstalled("prlimit", "util-linux"));
  const { arch } = process;
  if (arch !== "x64" && arch !== "arm64")
    return missing(`workerd has no build for ${arch}. Use x64 or arm64.`);
  const files = findLibraries(arch);
  if (typeof files === "string") {
    return missing(`${files} was not found. workerd needs the GNU C library; on Debian: apt install libc6`);
  }
  const user = process.getuid?.() === 0 ? unprivilegedUser : undefined;
  const obstacle = user && (await findUnreadable(workerd));
  if (obstacle !== undefined) {
    return missing(
      `Store runs as root, so sandboxed scripts run as user ${user?.uid}, who may not read "${obstacle}". ` +
        "Install Store and workerd in a folder that all users may read, such as /opt.",
    );
  }
  const canLimitThreads = countsThreadsByNamespace(release());
  const tools = {
    bwrap,
    prlimit,
    files,
    seccomp: compileSeccomp(arch),
    canLimitThreads,
    user,
    inheritedFds: findInheritedFds(),
  };
  const failure = await tryWall(tools, workerd);
  if (failure !== undefined) return missing(describeFailure(failure));
  const warnings = canLimitThreads
    ? []
    : [`Linux ${release()} does not count threads by namespace: sandboxes have no limit of threads.`];
  return { kind: "ready", tools, warnings };
}

function missing(what: string): WallCheck {
  return { kind: "missing", what };
}

function notInstalled(program: string, debianPackage: string): string {
  return `${program} is not installed. On Debian and Ubuntu: apt install ${debianPackage}`;
}

function findProgram(name: string, environment: NodeJS.ProcessEnv): string | undefined {
  const folders = (environment.PATH ?? "").split(delimiter).filter((folder) => isAbsolute(folder));
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Returns the first of the file and its folders that only its owner or group may read. */
async function findUnreadable(file: string): Promise<string | undefined> {
  const folders: string[] = [];
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder))
    folders.unshift(folder);
  for (const folder of folders) if (((await stat(folder)).mode & 0o1) === 0) return folder;
  return ((await stat(file)).mode & 0o5) === 0o5 ? undefined : file;
}

/** Node closes most descriptors in its children, but not all of those that it inherited itself. */
function findInheritedFds(): number[] {
  return readdirSync("/proc/self/fd")
    .map(Number)
    .filter((fd) => fd > 2 && !isClosedOnExec(fd));
}

function isClosedOnExec(fd: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, "utf8"))?.[1];
    return (Number.parseInt(flags ?? "0", 8) & 0o2000000) !== 0;
  } catch {
    // The descriptor was that of the listing, which is closed by now.
    return true;
  }
}

/** Before Linux 5.14 the limit counts all threads of a user, in and out of sandboxes. */
export function countsThreadsByNamespace(kernel: string): boolean {
  const [major = 0, minor = 0] = kernel.split(".").map((part) => Number.parseInt(part, 10));
  return major > 5 || (major === 5 && minor >= 14);
}

/** Runs `workerd --version` behind the wall. Returns the errors if it fails. */
async function tryWall(tools: WallTools, workerd: string): Promise<string | undefined> {
  const sockets = await mkdtemp(join(await temporaryFolder(tools.user), "store-wall-"));
  try {
    // The unprivileged user must be able to mount the folder, which stays empty.
    await chmod(sockets, 0o755);
    const limits = defaultSandboxLimits;
    const wall = buildWall({ tools, workerd, files: [], sockets, args: ["--version"], limits });
    const { child } = startWall(wall);
    const timer = setTimeout(() => child.kill("SIGKILL"), trialMilliseconds);
    const exit = new Promise<string>((resolve) => {
      child.once("error", (error) => resolve(error.message));
      child.once("exit", (code, signal) => resolve(code === 0 ? "" : `exit code ${code ?? signal}`));
    });
    const [how, errors] = await Promise.all([exit, text(child.stderr), text(child.stdout)]);
    clearTimeout(timer);
    return how === "" ? undefined : `${errors.trim() || "no error message"} (${how})`;
  } finally {
    await rm(sockets, { recursive: true });
  }
}

function describeFailure(failure: string): string {
  return (
    `bubblewrap cannot start workerd here: ${failure}. A common cause is that unprivileged user ` +
    "namespaces are forbidden. Allow them: on Debian with sysctl kernel.unprivileged_userns_clone=1, " +
    "on Ubuntu with an AppArmor profile for bwrap (apt install apparmor-profiles), in a container " +
    "with a seccomp profile that permits them."
  );
}
