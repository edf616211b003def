// A thread of the fuzzer: runs the batches it is sent, and tells what broke with the input that broke it.
import { parentPort, workerData } from "node:worker_threads";
import { runBatch } from "./batch.ts";
import { targets } from "./targets.ts";

export interface Job {
  readonly target: string;
  readonly seed: number;
  readonly inputs: number;
}

/** The first bytes of what is shared: how many inputs have begun, and how long the one under way is. */
const headBytes = 8;

/** Shared with whoever watches: an input that never ends can still be named. */
export function shownInput(shared: SharedArrayBuffer): string {
  const [, length] = new Int32Array(shared, 0, 2);
  return Buffer.from(shared, headBytes, length).toString("utf16le");
}

export const sharedBytes = headBytes + 8192;

if (parentPort !== null) {
  const port = parentPort;
  const shared = workerData as SharedArrayBuffer;
  const head = new Int32Array(shared, 0, 2);
  const text = Buffer.from(shared, headBytes);
  port.on("message", async ({ target: name, ...batch }: Job) => {
    const target = targets.find((one) => one.name === name)!;
    let last = { index: -1, input: "" };
    try {
      const report = await runBatch(target, batch, (index, input) => {
        last = { index, input };
        head[0]!++;
        head[1] = text.write(input, "utf16le");
      });
      port.postMessage({ kind: "held", report });
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      port.postMessage({ kind: "broke", why, ...last });
    }
  });
}
