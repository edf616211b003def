// The consistency proof with clients of the S3 API beside the processes that open the directory,
// and with checks of the files on disk, which only tests know.
import { createConsistencyProof, type FrontEnd } from "../../../src/prove/consistency/consistency.ts";
import type { WorkerTask } from "../../../src/prove/consistency/worker.ts";
import { assertNothingLeftOver } from "../../support/disk/on-disk.ts";
import { s3ProcessCount, startS3Beside } from "./s3.ts";
import type { S3Address } from "./s3-target.ts";

export interface S3WorkerTask extends WorkerTask {
  readonly s3: S3Address;
}

/** Operations per round through S3: fewer, because each opens its own connection and is slower. */
const shareOfS3 = 1200;

export const linearizable = createConsistencyProof({
  name: "linearizable",
  share: 5000,
  keys: 48,
  startFrontEnd: startS3FrontEnd,
  afterwards: assertNothingLeftOver,
});

async function startS3FrontEnd(directory: string): Promise<FrontEnd> {
  const s3 = await startS3Beside(directory);
  return {
    processes: s3ProcessCount,
    worker(task) {
      const ofS3: S3WorkerTask = { ...task, s3: s3.address };
      const program = new URL("./process.js", import.meta.url);
      return { program, task: ofS3, share: shareOfS3, killOther: s3.killOne };
    },
    end: s3.end,
  };
}
