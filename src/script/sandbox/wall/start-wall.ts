// Starts a command of `buildWall` and reads the process id of workerd.
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import type { Duplex, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import type { WallCommand } from "./types.ts";

export interface WalledProcess {
  /** bubblewrap, which ends with workerd. SIGKILL ends both. */
  readonly child: ChildProcessByStdio<null, Readable, Readable>;
  /** Process id of workerd on this machine. Rejects if the wall could not be built. */
  readonly workerdPid: Promise<number>;
}

/** Output is a pipe: behind the wall no process can write to a file. */
export function startWall(wall: WallCommand): WalledProcess {
  const child = spawnWall(wall);
  for (const { fd, bytes } of wall.extraFiles) {
    const pipe = child.stdio[fd] as Duplex;
    // The command may end before it read the file; its exit code says so.
    pipe.on("error", () => {});
    pipe.end(bytes);
  }
  const workerdPid = readPid(child.stdio[wall.infoFd] as Duplex);
  workerdPid.catch(() => {});
  return { child, workerdPid };
}

function spawnWall(wall: WallCommand): WalledProcess["child"] {
  const pipes = new Set([1, 2, wall.infoFd, ...wall.extraFiles.map(({ fd }) => fd)]);
  const length = Math.max(...pipes, ...wall.closedFds) + 1;
  // Node cannot close a descriptor in a child, but it can replace the descriptor.
  const nothing = openSync("/dev/null", "r");
  try {
    const stdio = Array.from({ length }, (_, fd) => {
      return pipes.has(fd) ? "pipe" : wall.closedFds.includes(fd) ? nothing : "ignore";
    });
    // Detached: a signal to the process group, such as Ctrl-C, must not cut off requests in flight.
    const options = { stdio, env: {}, cwd: "/", detached: true, ...wall.user };
    return spawn(wall.command, wall.args, options) as WalledProcess["child"];
  } finally {
    closeSync(nothing);
  }
}

async function readPid(pipe: Duplex): Promise<number> {
  pipe.end();
  const pid = /"child-pid": *(\d{1,10})\b/.exec(await text(pipe))?.[1];
  if (pid === undefined) throw new Error("The wall of a sandbox could not be built.");
  return Number(pid);
}
