// Starts a command of `buildWall` and reads the process id of workerd.
import { type ChildProcessByStdio, spawn } from "node:child_process";
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
  const descriptors = [wall.infoFd, ...wall.extraFiles.map(({ fd }) => fd)];
  const child = spawn(wall.command, wall.args, {
    stdio: ["ignore", "pipe", "pipe", ...pipesUpTo(Math.max(...descriptors))],
    env: {},
    cwd: "/",
    ...wall.user,
  }) as ChildProcessByStdio<null, Readable, Readable>;
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

function pipesUpTo(lastFd: number): "pipe"[] {
  return Array.from({ length: lastFd - 2 }, () => "pipe");
}

async function readPid(pipe: Duplex): Promise<number> {
  pipe.end();
  const pid = /"child-pid": *(\d{1,10})\b/.exec(await text(pipe))?.[1];
  if (pid === undefined) throw new Error("The wall of a sandbox could not be built.");
  return Number(pid);
}
