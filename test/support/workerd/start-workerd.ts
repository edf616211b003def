// Runs a real workerd with a configuration, until the test ends.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { request } from "node:http";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import type { TestContext } from "node:test";

// The package has no types. Its default export is the path of the binary.
const { default: workerd } = createRequire(import.meta.url)("workerd") as { readonly default: string };

/** Starts workerd in the folder of the file; resolves with the port of its first socket. */
export async function startWorkerd(t: Pick<TestContext, "after">, config: string): Promise<number> {
  const child = spawn(workerd, ["serve", config, "--control-fd=3"], {
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
      output += String(piece);
    });
  }
  const control = createInterface(child.stdio[3] as Readable);
  const listening = once(control, "line");
  const failed = closed.then(() => assert.fail(`workerd did not start: ${output}`));
  const [line] = await Promise.race([listening, failed]);
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
