// Makes syncs of chosen files in another process fail, as on a broken disk, with strace or with a
// preloaded library that a C compiler builds.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

export interface SyncFailures {
  readonly tool: "strace" | "cc";
  /** Environment variables with which the process must be started. */
  readonly env: Readonly<Record<string, string>>;
  /** Resolves when the next sync of this file or directory in the process will fail with EIO. */
  arm(pid: number, path: string): Promise<Armed>;
}

export interface Armed {
  release(): Promise<void>;
}

/** Uses a tool that this machine has. If there is none, prints the reason and returns undefined. */
export async function findSyncFailures(directory: string): Promise<SyncFailures | undefined> {
  if (await canTrace()) return { tool: "strace", env: {}, arm: armWithTracer };
  if (spawnSync("cc", ["--version"]).status === 0) return withLibrary(directory);
  tellOnce("NOT TESTED: failing syncs. Neither strace (allowed to attach) nor cc is on this machine.");
  return undefined;
}

let isReported = false;

function tellOnce(line: string): void {
  if (!isReported) console.error(line);
  isReported = true;
}

async function canTrace(): Promise<boolean> {
  if (spawnSync("strace", ["-V"]).status !== 0) return false;
  const idle = spawn(process.execPath, ["-e", "process.stdin.resume()"], {
    stdio: ["pipe", "ignore", "ignore"],
  });
  try {
    const { release } = await armWithTracer(idle.pid!, "/nowhere");
    await release();
    return true;
  } catch {
    return false;
  } finally {
    const exited = once(idle, "exit");
    idle.kill("SIGKILL");
    await exited;
  }
}

async function armWithTracer(pid: number, path: string): Promise<Armed> {
  const syncs = "fsync,fdatasync";
  const tracer = spawn(
    "strace",
    ["-f", "-o", "/dev/null", "-P", path, "-e", `trace=${syncs}`]
      .concat("-e", `inject=${syncs}:error=EIO:when=1`)
      .concat("-p", String(pid)),
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  const exited = once(tracer, "exit");
  const lines: string[] = [];
  for await (const line of createInterface(tracer.stderr)) {
    lines.push(line);
    if (!line.includes("attached")) continue;
    tracer.stderr.resume();
    return {
      async release() {
        tracer.kill("SIGINT");
        await exited;
      },
    };
  }
  throw new Error(`strace cannot attach: ${lines.join(" ")}`);
}

const librarySource = `
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* STORE_FAIL_SYNC names a file that contains a path. The next sync of the path fails once. */
static int fails(int descriptor) {
  char wanted[4096], path[4096], link[64];
  const char *armed = getenv("STORE_FAIL_SYNC");
  int file = armed == NULL ? -1 : open(armed, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  ssize_t wantedLength = read(file, wanted, sizeof wanted);
  close(file);
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t length = readlink(link, path, sizeof path);
  if (length <= 0 || length != wantedLength || memcmp(wanted, path, length) != 0) return 0;
  return unlink(armed) == 0;
}

static int run(long call, int descriptor) {
  if (!fails(descriptor)) return syscall(call, descriptor);
  errno = EIO;
  return -1;
}

int fsync(int descriptor) { return run(SYS_fsync, descriptor); }
int fdatasync(int descriptor) { return run(SYS_fdatasync, descriptor); }
`;

function withLibrary(directory: string): SyncFailures {
  const source = join(directory, "fail-sync.c");
  const library = join(directory, "fail-sync.so");
  const armed = join(directory, "armed");
  writeFileSync(source, librarySource);
  const built = spawnSync("cc", ["-shared", "-fPIC", "-o", library, source], { encoding: "utf8" });
  if (built.status !== 0) throw new Error(`cc cannot build the library: ${built.stderr}`);
  return {
    tool: "cc",
    env: { LD_PRELOAD: library, STORE_FAIL_SYNC: armed },
    async arm(_pid, path) {
      writeFileSync(armed, path);
      return { release: async () => {} };
    },
  };
}
