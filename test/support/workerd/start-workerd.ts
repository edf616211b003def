// Runs a real workerd with a configuration, until the test ends.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { request } from "node:http";
import { dirname } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import type { TestContext } from "node:test";
import { findRuntime } from "../../../src/script/sandbox/runtime/find-runtime.ts";
import { root } from "../../cli/store.ts";

/** Path of the binary. It is a development dependency: without it, nothing here is tested. */
export const workerd = findBinary();

function findBinary(): string {
  const search = findRuntime([root]);
  if (search.kind === "found") return search.runtime.binary;
  throw new Error(`NOT TESTED: ${search.message}`);
}

/** Starts workerd in the folder of the file; resolves with the port of its first socket. */
export async function startWorkerd(
  t: Pick<TestContext, "after">,
  config: string,
  ...args: string[]
): Promise<number> {
  const child = spawn(workerd, ["serve", ...args, config, "--control-fd=3"], {
    cwd: dirname(config),
    stdio: ["ignore", "pipe", "pipe", "pipe"],
  });
  const closed = once(child, "close");
  t.after(async () => {
    child.kill("SIGKILL");
    await closed;
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream!.on("data", (piece) => {
      output = `${output}${String(piece)}`.slice(-10_000);
    });
  }
  const listening = once(createInterface(child.stdio[3] as Readable), "line");
  const failed = closed.then(() => Promise.reject(new Error(`workerd did not start: ${output}`)));
  const [line] = await Promise.race([listening, failed]);
  // The end of the process after the test is not a failure.
  failed.catch(() => {});
  return (JSON.parse(line) as { readonly port: number }).port;
}

export interface SocketAnswer {
  readonly status: number;
  readonly text: string;
}

/** Sends a GET to an HTTP server on a Unix socket. */
export async function getFromSocket(socketPath: string, path: string): Promise<SocketAnswer> {
  const sent = request({ socketPath, path, agent: false });
  sent.end();
  const [response] = await once(sent, "response");
  let text = "";
  for await (const piece of response) text += String(piece);
  return { status: response.statusCode, text };
}
