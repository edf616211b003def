// A worker thread of the fuzzer: runs batches and reports the input that caused a violation.
import { parentPort, workerData } from "node:worker_threads";
import { runBatch } from "./batch.ts";
import { targets } from "./targets.ts";

export interface Job {
  readonly target: string;
  readonly seed: number;
  readonly inputs: number;
}

/** Header of the shared buffer: number of inputs started and length of the current input. */
const headBytes = 8;

/** Reads the current input from the shared buffer, so that an endless input can be reported. */
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
