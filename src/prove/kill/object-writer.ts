// A program that is killed while several clients write objects of every kind concurrently. Each
// client reports a write before it starts and after it was acknowledged.
import { openStore } from "../../open.ts";
import type { Value } from "../bodies.ts";
import { createOperations } from "./operations.ts";
import { readTask } from "./run-until-killed.ts";

export interface WriterTask {
  readonly directory: string;
  readonly buckets: readonly string[];
  readonly seed: number;
  /** Number of the round, which makes the names of this process's values unique. */
  readonly round: number;
}

/** Report of a write, as one line of JSON. A value of null is a delete. */
export interface WriteReport {
  readonly said: "trying" | "done" | "refused" | "failed";
  /** Id of the write, unique in its round. */
  readonly id: number;
  readonly bucket: string;
  readonly keys: readonly string[];
  readonly value: Value | null;
}

/** Report of an upload: a part was acknowledged, or the upload is about to be completed. */
export interface UploadReport {
  readonly said: "part" | "ending";
  readonly bucket: string;
  readonly key: string;
  readonly upload: string;
  /** Value of the complete object, the size of its parts, and number and etag of this part. */
  readonly value: Value;
  readonly partSize: number;
  readonly number: number;
  readonly etag: string;
}

export type Report = WriteReport | UploadReport;

const task = readTask<WriterTask>();
const store = await openStore(task.directory);
await Promise.all(
  createOperations(store, task).map(async (operate) => {
    for (;;) await operate();
  }),
);
