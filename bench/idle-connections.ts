// Connections that are opened and left idle, in a process of their own: its work must not count against the load.

import type { ChildProcess } from "node:child_process";
import { connect } from "node:net";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { start } from "./servers.ts";

/** Spread over addresses of the loopback network, since ports limit each address. */
const addresses = 40;

/** Resolves when all are open; killing the process closes them. */
export async function holdIdle(port: number, count: number, started: ChildProcess[]): Promise<ChildProcess> {
  const child = start([fileURLToPath(import.meta.url), String(port), String(count)], started);
  for await (const _line of createInterface({ input: child.stdout! })) return child;
  throw new Error("Cannot measure: the idle connections were not opened");
}

async function open(port: number, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const localAddress = `127.0.0.${2 + (i % addresses)}`;
    await new Promise<void>((resolve, reject) => {
      const socket = connect({ port, host: "127.0.0.1", localAddress }, resolve);
      socket.on("error", reject);
    });
  }
  console.log("open");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await open(Number(process.argv[2]), Number(process.argv[3]));
}
