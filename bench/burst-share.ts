// How evenly the processes of a port accept connections that are opened at the same moment. Linux only.
import { once } from "node:events";
import { readdirSync, readlinkSync } from "node:fs";
import { connect } from "node:net";
import { setTimeout } from "node:timers/promises";

/** Longer than a server remembers how many connections were open. */
const restMilliseconds = 1200;
const acceptMilliseconds = 300;

/** Opens connections and returns the largest share of them that one of the processes has accepted. */
export async function largestShare(
  port: number,
  processes: readonly number[],
  count: number,
): Promise<number> {
  const before = processes.map(countSockets);
  const sockets = Array.from({ length: count }, () => connect(port, "127.0.0.1"));
  try {
    await Promise.all(sockets.map((socket) => once(socket, "connect")));
    // The kernel connects before a process accepts.
    await setTimeout(acceptMilliseconds);
    const accepted = processes.map((pid, i) => countSockets(pid) - before[i]!);
    // Fewer than `count` if older connections were closed meanwhile.
    const all = accepted.reduce((sum, own) => sum + own, 0);
    if (all < count / 2) throw new Error("Cannot measure: connections were not accepted");
    return Math.max(...accepted) / all;
  } finally {
    for (const socket of sockets) socket.destroy();
    await setTimeout(restMilliseconds);
  }
}

function countSockets(pid: number): number {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).filter((name) => isSocket(`${folder}/${name}`)).length;
}

/** A descriptor may be closed between being listed and being read. */
function isSocket(path: string): boolean {
  try {
    return readlinkSync(path).startsWith("socket:");
  } catch {
    return false;
  }
}
