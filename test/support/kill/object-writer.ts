// The process that is killed: several clients write objects of every kind at once, and each says, before a write,
// what it is about to do and, once it is acknowledged, that it was.
import { openStore } from "../../../src/index.ts";
import type { Value } from "../bodies.ts";
import { createTurns } from "./operations.ts";

export interface WriterTask {
  readonly directory: string;
  readonly buckets: readonly string[];
  readonly seed: number;
  /** Makes the names of this process's values its own. */
  readonly round: number;
}

/** What it says of a write: a line of JSON each. A value of null is a delete. */
export interface WriteReport {
  readonly said: "trying" | "done" | "refused" | "failed";
  /** Of the write: its own in its round. */
  readonly id: number;
  readonly bucket: string;
  readonly keys: readonly string[];
  readonly value: Value | null;
}

/** What it says of an upload in flight: a part was acknowledged, or somebody is about to end it. */
export interface UploadReport {
  readonly said: "part" | "ending";
  readonly bucket: string;
  readonly key: string;
  readonly upload: string;
  /** What the whole will be, in how large pieces; the etag of this one. */
  readonly value: Value;
  readonly partSize: number;
  readonly number: number;
  readonly etag: string;
}

export type Report = WriteReport | UploadReport;

const task = JSON.parse(process.argv[2]!) as WriterTask;
const store = await openStore(task.directory);
await Promise.all(
  createTurns(store, task).map(async (takeTurn) => {
    for (;;) await takeTurn();
  }),
);
