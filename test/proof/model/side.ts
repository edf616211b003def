// One side of a model test: an engine with small size limits, a clock and randomness set by each
// task, and the binding and S3 API on it.
import { createHash } from "node:crypto";
import { bindBucket } from "../../../src/binding/bind.ts";
import type { Blobs } from "../../../src/engine/blobs.ts";
import { createEngine } from "../../../src/engine/create.ts";
import type { Engine } from "../../../src/engine/engine.ts";
import type { Records } from "../../../src/engine/records.ts";
import type { StoreBucket } from "../../../src/index.ts";
import { createMemoryBlobs } from "../../../src/memory/blobs.ts";
import { createMemoryRecords } from "../../../src/memory/records.ts";
import { createS3Handler } from "../../../src/s3/handler.ts";
import { type Answer, bucketName, type Task } from "./operation.ts";
import { perform } from "./perform.ts";
import { accessKey, type S3Handler } from "./s3.ts";

export interface Ports {
  readonly records: Records;
  readonly blobs: Blobs;
}

export interface Side {
  readonly engine: Engine;
  readonly bucket: StoreBucket;
  readonly s3: S3Handler;
  perform(task: Task): Promise<Answer>;
}

/** Size limits of a few bytes, so that small random bodies are below, at and above every limit. */
export const sizes = { inlineBytes: 48, blockBytes: 32, s3PartBytes: 40 } as const;
export const diskSizes = {
  blockBytes: sizes.blockBytes,
  folderFiles: 8,
  segments: { bodyBytes: 160, fileBytes: 480 },
} as const;

export function createSide({ records, blobs }: Ports): Side {
  let current: Task | undefined;
  const engine = createEngine({
    records,
    blobs,
    ...sizes,
    now: () => current?.now ?? 0,
    // Deterministic per task, so that a retry after a conflict creates the same IDs.
    randomBytes: (size) => createHash("sha512").update(`${current?.draw} ${size}`).digest().subarray(0, size),
  });
  const s3 = createS3Handler({
    engine,
    credentials: { find: async () => accessKey },
    domains: [],
    now: Date.now,
    log: () => {},
  });
  const side: Side = {
    engine,
    bucket: bindBucket(engine, bucketName),
    s3,
    perform(task) {
      current = task;
      return perform(side, task.operation);
    },
  };
  return side;
}

/** Creates the model: the engine in memory, with an empty bucket. */
export async function createModel(now: number): Promise<Side> {
  const side = createSide({ records: createMemoryRecords(), blobs: createMemoryBlobs() });
  await side.perform({ operation: { do: "sweep" }, now, draw: "" });
  await side.engine.createBucket(bucketName);
  return side;
}
