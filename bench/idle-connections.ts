// Opens idle connections in a separate process, so that its work does not slow the load generator.
import type { ChildProcess } from "node:child_process";
import { connect } from "node:net";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { start } from "./servers.ts";

/** Number of loopback source addresses: each address has a limited number of ports. */
const addresses = 40;

/** Resolves when all connections are open. Killing the returned process closes them. */
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
